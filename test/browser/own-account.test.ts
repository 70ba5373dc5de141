import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, owner, signIn, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

// The page of a person's account, from the console: the password and the sessions. The tests build
// on each other.

describe('the page of an account', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  const password = 'a battery of staple horses'

  before(async () => {
    ours = await openConsole()
    page = ours.page
  })
  after(() => ours?.close())

  /** Signs the owner in in another browser. */
  async function elsewhere(): Promise<Page> {
    const other = await (await ours.browser.context({ viewport: { width: 1200, height: 900 } })).newPage()
    await signIn(other, ours.home)
    await other.getByRole('heading', { name: 'Projects' }).waitFor()
    return other
  }
  const ended = (of: Page) =>
    until('the session has ended', async () => {
      await of.goto(ours.home)
      return of
        .getByLabel('E-mail address')
        .waitFor({ timeout: 3_000 })
        .then(
          () => true,
          () => false,
        )
    })

  it('is linked in the console, and lists this browser and another one', async () => {
    const other = await elsewhere()
    await page.goto(ours.home)
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.getByText(`You are signed in as ${owner.email}`).waitFor()
    assert.equal(await page.getByText('Chrome on Linux').count(), 2)
    assert.deepEqual(await violations(page), [])
    await page.getByRole('button', { name: 'End the session of Chrome on Linux' }).click()
    await page.getByText('The session has ended.').waitFor()
    assert.equal(await page.getByText('Chrome on Linux').count(), 1)
    await ended(other)
    await other.context().close()
  })

  it('changes the password, and keeps this browser alone signed in', async () => {
    const other = await elsewhere()
    await page.getByLabel('Current password').fill('wrong horse battery staple')
    await page.getByLabel(/^New password/).fill(password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('The current password is wrong.').waitFor()
    await page.getByLabel('Current password').fill(owner.password)
    await page.getByLabel(/^New password/).fill(password)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('The password is changed, and all other sessions have ended.').waitFor()
    await ended(other)
    await other.getByLabel('E-mail address').fill(owner.email)
    await other.getByLabel('Password').fill(password)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.getByRole('link', { name: 'Back to the console' }).click()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    assert.deepEqual(ours.errors, [])
  })

  it('fits a narrow window', async () => {
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(`${ours.server.apiUrl}/oidc/account`)
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  })
})
