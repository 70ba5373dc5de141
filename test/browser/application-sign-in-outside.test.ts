import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { type OutsideIssuer, startOutsideIssuer } from '../support/outside-issuer.ts'
import { headersPage } from '../support/trees.ts'
import { until } from '../support/until.ts'

// People whose accounts are at an outside issuer, in a real browser: an application behind the
// sign-in, and the console. The tests build on each other.

describe('people of an outside issuer', { skip: noBrowser ?? false }, () => {
  let outside: OutsideIssuer
  let directory: string
  let ours: TestConsole
  let application: TestApplication
  let page: Page

  before(async () => {
    outside = await startOutsideIssuer()
    directory = await mkdtemp(join(tmpdir(), 'quayside-outside-'))
    const clientSecretFile = join(directory, 'secret')
    await writeFile(clientSecretFile, outside.clientSecret)
    const entry = {
      ...outside.entry,
      signIn: { ...outside.entry.signIn, clientSecretFile },
      members: { grace: ['READ'], carl: ['ADMIN'] },
    }
    outside.people.set('grace', { name: 'Grace Hopper', email: 'grace@example.org', email_verified: true })
    ours = await openConsole({ QUAYSIDE_OIDC_ISSUERS: JSON.stringify([entry]) })
    outside.register(ours.server.apiUrl)
    const environmentId = await makeEnvironment(ours.server, 'inside')
    application = await makeApplication(ours.server, { environmentId, name: 'dashboard' })
    await setRoles('member')
    await application.run(headersPage)
    page = await (await ours.browser.context({ viewport: { width: 1200, height: 900 } })).newPage()
  })
  after(async () => {
    await application?.git.remove()
    await ours?.close()
    await outside?.close()
    if (directory) await rm(directory, { recursive: true, force: true })
  })

  const setRoles = (roles: string) =>
    ours.server.must('PUT', `/application/${application.id}/advancedSettings`, { 'network.router.sign_in': roles })
  const visit = async (path = '/'): Promise<number> => (await page.goto(application.url + path))?.status() ?? 0
  const seen = async (): Promise<Record<string, string>> =>
    JSON.parse((await page.locator('pre').textContent()) ?? '').headers
  /** Chooses the issuer on the sign-in page, and signs in there. */
  const signIn = async (sub: string): Promise<void> => {
    await page.getByRole('button', { name: 'Sign in with Example' }).click()
    await page.getByLabel('Name').fill(sub)
    await page.getByRole('button', { name: 'Continue' }).click()
  }

  it('enter an application through their issuer, and come to the exact address', async () => {
    const address = `${application.url}/report?of=may&to=%2F%2Fevil.test`
    await page.goto(address)
    await page.getByText('to go on to dashboard').waitFor()
    assert.deepEqual(await violations(page), [])
    await signIn('grace')
    await page.waitForURL(/\/report/)
    assert.equal(page.url(), address)
    const headers = await seen()
    assert.equal(headers['x-forwarded-email'], 'grace@example.org')
    assert.equal(headers['x-forwarded-groups'], 'Viewer')
    assert.equal(headers['cookie'], undefined)
  })

  it('use the console with the same session', async () => {
    await page.goto(ours.home)
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.goto(`${ours.home}/settings/members`)
    await page.getByText('grace@example.org').waitFor()
  })

  it('lose an application with their role, within seconds', async (t) => {
    await setRoles('DevOps')
    const startedAt = performance.now()
    await until('the browser gets 403', async () => (await visit()) === 403, { limitMs: 20_000 })
    t.diagnostic(`a role ended after ${Math.round(performance.now() - startedAt)} ms`)
    await setRoles('member')
    await until('the browser gets 200', async () => (await visit()) === 200, { limitMs: 20_000 })
  })

  it('are signed out of applications by the console, within seconds', async () => {
    await page.goto(ours.home)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You can close this page').waitFor()
    await until('the application is closed', async () => {
      await page.goto(application.url)
      return page.url().startsWith(ours.server.apiUrl)
    })
    // The issuer knows the browser, and asks nothing.
    await page.getByRole('button', { name: 'Sign in with Example' }).click()
    await page.getByText('x-forwarded-email').waitFor()
  })

  it('sign in again when the word of their issuer is old, also as somebody else', async () => {
    await ours.server.sql`update account set outside_signed_in_at = now() - interval '13 hours'`
    await page.context().clearCookies({ name: /quayside-access/ })
    await page.goto(`${application.url}/later`)
    await page.context().clearCookies({ domain: '127.0.0.1' })
    await signIn('carl')
    await page.waitForURL(/\/later/)
    assert.equal((await seen())['x-forwarded-email'], 'carl')
  })
})
