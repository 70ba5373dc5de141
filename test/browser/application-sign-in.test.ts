import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, owner, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { openGuest, roleNamed } from '../support/guest.ts'
import { get } from '../support/traffic.ts'
import { headersPage } from '../support/trees.ts'
import { until } from '../support/until.ts'

// An application behind the sign-in of the platform, in a real browser. The tests build on each
// other.

describe('an application behind the sign-in', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let application: TestApplication
  let page: Page
  let guest: Page

  before(async () => {
    ours = await openConsole()
    const environmentId = await makeEnvironment(ours.server, 'inside')
    application = await makeApplication(ours.server, { environmentId, name: 'dashboard' })
    await setRoles('member')
    await application.run(headersPage)
  })
  after(async () => {
    await application?.git.remove()
    await ours?.close()
  })

  const setRoles = async (roles: string | null) =>
    ours.server.must('PUT', `/application/${application.id}/advancedSettings`, { 'network.router.sign_in': roles })
  /** Returns what a program without a browser gets. */
  const status = async (headers: Record<string, string> = {}): Promise<number> =>
    (await get(application.url, undefined, '127.0.0.1', headers)).status
  const seen = async (of: Page): Promise<{ url: string; headers: Record<string, string> }> =>
    JSON.parse((await of.locator('pre').textContent()) ?? '')
  /** Returns the status of the application's page in a browser. */
  const visit = async (of: Page, path = '/'): Promise<number> => (await of.goto(application.url + path))?.status() ?? 0
  /** Waits until the browser gets that status. Routers follow a change within seconds. */
  const reaches = async (of: Page, wanted: number): Promise<number> => {
    const startedAt = performance.now()
    await until(`the browser gets ${wanted}`, async () => (await visit(of)) === wanted, { limitMs: 20_000 })
    return Math.round(performance.now() - startedAt)
  }

  it('is closed to programs without a session from its first deployment on', async () => {
    assert.equal(await status(), 401)
    assert.equal(await status({ authorization: `Bearer ${ours.server.token}` }), 401)
    assert.equal(await status({ accept: 'text/html' }), 302)
  })

  it('asks a person to sign in, and returns to the path', async () => {
    page = await (await ours.browser.context()).newPage()
    await page.goto(`${application.url}/report?of=may&to=%2F%2Fevil.test`)
    await page.getByText('to go on to dashboard').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(/\/report/)
    assert.equal(page.url(), `${application.url}/report?of=may&to=%2F%2Fevil.test`)
    const { headers } = await seen(page)
    assert.equal(headers['x-forwarded-email'], owner.email)
    assert.equal(headers['x-forwarded-groups'], 'Owner')
    assert.equal(headers['cookie'], undefined)
    const answers = await page.evaluate(`fetch('/data').then(({ status }) => status)`)
    assert.equal(answers, 200, 'scripts of the page enter too')
    assert.equal(await page.evaluate('document.cookie'), '')
  })

  it('lets a person with a session at the platform in without a page', async () => {
    guest = await openGuest(ours, await roleNamed(ours, 'Viewer'), 'Vic Viewer')
    assert.equal(await visit(guest, '/first'), 200)
    assert.equal((await seen(guest)).url, '/first')
    assert.equal((await seen(guest)).headers['x-forwarded-email'], 'vic-viewer@example.org')
  })

  it('is closed to members without the role, and says so', async (t) => {
    await ours.open(`/environments/${application.environmentId}/application/${application.id}/domains`)
    const audience = ours.page.locator('main')
    await audience.getByText('Members of the organization who may see this environment').waitFor()
    assert.deepEqual(await violations(ours.page), [])
    await ours.page.getByRole('button', { name: 'Change who may open it' }).click()
    await ours.page.getByRole('dialog').getByRole('combobox').selectOption('members with some roles')
    await ours.page.getByRole('checkbox', { name: 'DevOps' }).check()
    assert.deepEqual(await violations(ours.page), [])
    await ours.page.getByRole('button', { name: 'Save' }).click()
    await audience.getByText('Members with the role DevOps, and administrators').waitFor()
    const ms = await reaches(guest, 403)
    t.diagnostic(`a role ended after ${ms} ms`)
    await guest.getByText('may not open dashboard').waitFor()
    await guest.goto(application.url)
    await guest.getByRole('heading', { name: 'You may not open dashboard' }).waitFor()
    assert.deepEqual(await violations(guest), [])
    assert.equal(await visit(page), 200, 'administrators enter')
    await setRoles('DevOps, viewer')
    await reaches(guest, 200)
  })

  it('is closed to a person who signs out, within seconds', async (t) => {
    assert.equal(await visit(guest), 200)
    await guest.goto(ours.home)
    await guest.getByRole('button', { name: 'Sign out' }).click()
    await guest.getByRole('button', { name: 'Sign out' }).click()
    await guest.getByText('You can close this page').waitFor()
    const startedAt = performance.now()
    await until('the application is closed', async () => {
      await guest.goto(application.url)
      return guest.url().startsWith(ours.server.apiUrl)
    })
    t.diagnostic(`a sign-out acted after ${Math.round(performance.now() - startedAt)} ms`)
    await guest.getByText('to go on to dashboard').waitFor()
    await guest.getByLabel('E-mail address').fill('vic-viewer@example.org')
    await guest.getByLabel('Password').fill('a long enough password')
    await guest.getByRole('button', { name: 'Sign in' }).click()
    await guest.getByText('x-forwarded-email').waitFor()
  })

  it('is closed to a person who is no member any more', async (t) => {
    const path = `/organization/${ours.server.organizationId}/member`
    const { results } = await ours.server.must<{ results: { id: string; email: string }[] }>('GET', path)
    const user_id = results.find(({ email }) => email === 'vic-viewer@example.org')?.id
    await ours.server.must('DELETE', path, { user_id })
    const ms = await reaches(guest, 403)
    t.diagnostic(`a membership ended after ${ms} ms`)
  })

  it('keeps sessions while the server is away, and is open again without the setting', async () => {
    await ours.server.kill9()
    assert.equal(await visit(page), 200)
    await ours.server.restart()
    await setRoles(null)
    await until('everybody enters', async () => (await status()) === 200, { limitMs: 20_000 })
  })
})
