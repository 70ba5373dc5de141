import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, type TestApplication } from '../support/application.ts'
import { noBrowser, owner, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { type Furnished, furnish } from '../support/furnish.ts'
import { quietPage } from '../support/quiet.ts'
import { web } from '../support/trees.ts'

// The session, the server or the network of a person fails. The tests build on each other.

describe('the console when something fails', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let furnished: Furnished
  let shop: TestApplication
  /** The page of the application in a second window. */
  let other: Page

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    furnished = await furnish(ours.server, (field) => field)
    shop = await makeApplication(ours.server, { environmentId: furnished.environmentId, name: 'shop' })
    await shop.git.push(web('one'))
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  const signIn = async (at: Page): Promise<void> => {
    await at.getByLabel('E-mail address').fill(owner.email)
    await at.getByLabel('Password').fill(owner.password)
    await at.getByRole('button', { name: 'Sign in' }).click()
  }
  const dialog = () => page.getByRole('dialog').filter({ hasText: 'Invite' })
  const shopPath = () => `/environments/${furnished.environmentId}/application/${shop.id}`

  it('says that an address has no page, in words', async () => {
    const nobody = '00000000-0000-7000-8000-000000000000'
    const inside = `/environments/${furnished.environmentId}`
    for (const path of [
      `/environments/${nobody}`,
      `${inside}/application/${nobody}`,
      `${inside}/application/${nobody}/settings`,
      `/settings/roles/${nobody}`,
      `/settings/webhooks/${nobody}`,
      `/projects/${nobody}/variables`,
      '/nothing/here',
    ]) {
      assert.equal(await quietPage(page).open(`${ours.home}${path}`), 'Page not found', path)
    }
    await quietPage(page).open(`${ours.home}${inside}/pizza/${nobody}`)
    await page.getByText('"pizza" is no kind of service').waitFor()
    assert.equal(await quietPage(page).open(`${ours.server.apiUrl}/organizations/${nobody}`), 'Page not found')
    assert.deepEqual(await violations(page), [])
  })

  it('goes back and forward through its pages', async () => {
    await ours.open('')
    await page.getByRole('link', { name: 'environment name' }).click()
    await page.getByRole('link', { name: 'container name' }).click()
    await page.getByRole('link', { name: 'Settings' }).last().click()
    await page.waitForURL(/container\/.*\/settings$/)
    for (const end of [/container\/[^/]+$/, /environments\/[^/]+$/, /organizations\/[^/]+$/]) {
      await page.goBack()
      await page.waitForURL(end)
    }
    await page.goForward()
    await page.getByRole('heading', { name: 'environment name' }).waitFor()
  })

  it('shows in one window what another window does', async () => {
    other = await page.context().newPage()
    await other.goto(`${ours.home}${shopPath()}`)
    await other.locator('main header').getByText('ready', { exact: true }).waitFor()
    await ours.open(shopPath())
    await page.getByRole('button', { name: 'Deploy' }).click()
    await other.locator('main header').getByText('deployed', { exact: true }).waitFor({ timeout: 90_000 })
  })

  it('keeps the inputs of a form while the server is killed and back', async () => {
    await ours.open('/settings/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    await dialog().getByLabel('E-mail address').fill('late@example.org')
    await ours.server.kill9()
    await page.getByText('The server cannot be reached.').waitFor({ timeout: 30_000 })
    await dialog().getByRole('button', { name: 'Invite' }).click()
    await dialog().getByRole('alert').getByText('The server cannot be reached.').waitFor()
    await ours.server.restart()
    await page.getByText('States may be old.').waitFor({ state: 'detached', timeout: 30_000 })
    assert.equal(await dialog().getByLabel('E-mail address').inputValue(), 'late@example.org')
    await dialog().getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByLabel('Link').waitFor()
    await page.keyboard.press('Escape')
  })

  it('keeps the inputs of a form when the session ends, and continues after a sign-in', async () => {
    await ours.open('/settings/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    await dialog().getByLabel('E-mail address').fill('later@example.org')
    // The session of the issuer ends, and the server refuses the token once.
    await page.context().clearCookies()
    await page.route('**/oidc/oauth/token', (route) => route.fulfill({ status: 400, json: { error: 'invalid_grant' } }))
    await page.route('**/inviteMember', (route) => route.fulfill({ status: 401, json: {} }), { times: 1 })
    await dialog().getByRole('button', { name: 'Invite' }).click()
    const link = page.getByRole('link', { name: 'Sign in again' })
    await link.waitFor()
    assert.deepEqual(await violations(page), [])
    await page.unroute('**/oidc/oauth/token')
    const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await signIn(tab)
    await tab.getByRole('heading', { name: 'Members' }).waitFor()
    await page.getByRole('dialog').getByLabel('Link').waitFor()
    assert.equal(await link.count(), 0)
  })

  it('works on a slow network', async () => {
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    const slow = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 }
    await session.send('Network.emulateNetworkConditions', slow)
    await ours.open('')
    await page.getByRole('link', { name: 'environment name' }).click()
    await page.getByRole('heading', { name: 'environment name' }).waitFor()
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await page.getByText('up one').waitFor()
    assert.deepEqual(ours.errors, [])
  })
})
