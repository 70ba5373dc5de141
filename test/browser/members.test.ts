import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'

// The people of an organization and their roles. The tests build on each other.

const eve = { name: 'Eve Guest', email: 'eve@example.org', password: 'a long enough password' }

describe('members and roles in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  /** The window of the invited person. */
  let guest: Page

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    guest = await (await ours.browser.context({ colorScheme: 'dark' })).newPage()
    await makeEnvironment(ours.server, 'staging')
  })
  after(() => ours?.close())

  const row = (table: string, text: string) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })
  const dialog = () => page.getByRole('dialog')
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click()

  it('rejects a wrong address with the message of the API, and keeps the form', async () => {
    await ours.open('/settings')
    await press('Invite')
    await dialog().getByLabel('E-mail address').fill('eve at home')
    await dialog().getByRole('button', { name: 'Invite' }).click()
    await dialog().getByRole('alert').filter({ hasText: 'email is not an email address' }).waitFor()
    assert.equal(await dialog().getByLabel('E-mail address').inputValue(), 'eve at home')
    assert.deepEqual(await violations(page), [])
  })

  it('shows the link of an invitation, by which the person joins', async () => {
    await dialog().getByLabel('E-mail address').fill(eve.email)
    await dialog().getByRole('button', { name: 'Invite' }).click()
    const link = await dialog().getByLabel('Link').inputValue()
    await dialog().getByRole('button', { name: 'Copy' }).click()
    await dialog().getByText('Copied.').waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), link)
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await row('Invitations', eve.email).getByText('pending').waitFor()
    await guest.goto(link)
    assert.deepEqual(await violations(guest), [])
    await guest.getByRole('link', { name: 'Use my account with this address' }).click()
    await guest.getByLabel('Password', { exact: true }).waitFor()
    assert.deepEqual(await violations(guest), [])
    await guest.getByRole('link', { name: 'Create an account for this address' }).click()
    await guest.getByLabel('Name').fill(eve.name)
    await guest.getByLabel(/^Password/).fill(eve.password)
    await guest.getByRole('button', { name: 'Join' }).click()
    await guest.getByRole('heading').filter({ hasNotText: 'Join' }).waitFor()
    await page.reload()
    await row('Members', eve.name).getByText('Viewer').waitFor()
  })

  it('shows a viewer why they may not invite, and no invitations', async () => {
    await guest.goto(`${ours.server.apiUrl}/organizations/${ours.server.organizationId}/settings/members`)
    await guest.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(await violations(guest), [])
    await guest.getByLabel('E-mail address').fill(eve.email)
    await guest.getByLabel('Password').fill(eve.password)
    await guest.getByRole('button', { name: 'Sign in' }).click()
    const invite = guest.getByRole('button', { name: 'Invite' })
    await invite.waitFor()
    assert.match(String(await invite.getAttribute('title')), /needs the permission ADMIN/)
    await guest.getByText('This needs the permission ADMIN').waitFor()
  })

  it('refuses to remove the owner, with the reason on the button', async () => {
    const remove = row('Members', 'Ada').getByRole('button', { name: /^Remove/ })
    assert.equal(await remove.getAttribute('aria-disabled'), 'true')
    assert.match(String(await remove.getAttribute('title')), /Transfer the ownership first/)
  })

  it('creates a role, and rejects one whose name is taken', async () => {
    await page.getByRole('link', { name: 'Roles' }).click()
    await press('Create a role')
    await dialog().getByLabel('Name').fill('Deployers')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Deployers' }).waitFor()
    await page.getByRole('link', { name: 'Roles' }).click()
    await press('Create a role')
    await dialog().getByLabel('Name').fill('deployers')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog().getByRole('alert').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
  })

  it('saves the matrix of a role', async () => {
    await page.getByRole('link', { name: 'Deployers' }).click()
    const save = page.getByRole('button', { name: 'Save' })
    assert.equal(await save.getAttribute('title'), 'Nothing has changed.')
    await page.getByLabel('Staging environments of staging').selectOption('deployer')
    await page.getByLabel('Permission on').first().selectOption('creates environments')
    await save.click()
    await page.getByText('Saved.').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.reload()
    await page.getByLabel('Staging environments of staging').waitFor()
    assert.equal(await page.getByLabel('Staging environments of staging').inputValue(), 'DEPLOYER')
    assert.equal(await page.getByLabel('Production environments of staging').inputValue(), 'NO_ACCESS')
    assert.equal(await page.getByLabel('Permission on').first().inputValue(), 'ENV_CREATOR')
  })

  it('changes the role of a member, and then refuses to delete the role', async () => {
    await page.getByRole('link', { name: 'Members' }).click()
    await row('Members', eve.name).getByRole('button', { name: 'Change role' }).click()
    await dialog().getByLabel('Role').selectOption('Deployers')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await row('Members', eve.name).getByText('Deployers').waitFor()
    await page.getByRole('link', { name: 'Roles' }).click()
    await row('Custom roles', 'Deployers').getByRole('button', { name: 'Delete' }).click()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await dialog().getByRole('alert').waitFor()
    await page.keyboard.press('Escape')
  })

  it('removes a member and cancels an invitation', async () => {
    await page.getByRole('link', { name: 'Members' }).click()
    await row('Members', eve.name)
      .getByRole('button', { name: /^Remove/ })
      .click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await dialog().waitFor({ state: 'detached' })
    await gone(row('Members', eve.name))
    await press('Invite')
    await dialog().getByLabel('E-mail address').fill('bob@example.org')
    await dialog().getByRole('button', { name: 'Invite' }).click()
    await dialog().getByLabel('Link').waitFor()
    await page.keyboard.press('Escape')
    await row('Invitations', 'bob@example.org')
      .getByRole('button', { name: /^Cancel/ })
      .click()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Nobody is invited at the moment.').waitFor()
  })

  it('fits a narrow window, and the browser objects to nothing', async () => {
    await page.setViewportSize({ width: 380, height: 700 })
    const width = await page.evaluate('document.documentElement.scrollWidth')
    assert.equal(width, 380)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(ours.objections, [])
  })
})
