import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, owner } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { type ForeignSite, openForeignSite } from '../support/foreign-site.ts'
import { watchTokens } from '../support/tokens-in.ts'
import { until } from '../support/until.ts'

// Pages of another site against a person who is signed in, and the places of the person's tokens.

describe('the console and other sites', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let site: ForeignSite
  let context: BrowserContext
  let page: Page
  let console: string

  before(async () => {
    ours = await openConsole()
    site = await openForeignSite()
    context = ours.page.context()
    page = await context.newPage()
    page.setDefaultTimeout(20_000)
    console = ours.server.apiUrl
  })
  after(async () => {
    site?.close()
    await ours?.close()
  })

  const hasProjects = () => page.getByRole('heading', { name: 'Projects' }).waitFor()
  const countProjects = async (): Promise<number> => {
    const path = `/organization/${ours.server.organizationId}/project`
    return (await ours.server.must<{ results: unknown[] }>('GET', path)).results.length
  }

  it('keeps tokens in memory alone, while a person signs in, works and loads the page again', async (t) => {
    const own = await ours.browser.context()
    t.after(() => own.close())
    const watched = watchTokens(own)
    const fresh = await own.newPage()
    const environmentId = await makeEnvironment(ours.server, 'tokens')
    await fresh.goto(`${ours.home}/environments/${environmentId}`)
    await fresh.getByLabel('E-mail address').fill(owner.email)
    await fresh.getByLabel('Password').fill(owner.password)
    await fresh.getByRole('button', { name: 'Sign in' }).click()
    await fresh.getByRole('heading', { name: 'tokens' }).waitFor()
    assert.deepEqual(await watched.places(fresh), [])
    await fresh.reload()
    await fresh.getByRole('link', { name: 'Projects' }).click()
    await fresh.getByRole('heading', { name: 'Projects' }).waitFor()
    assert.ok(watched.tokens.size >= 2, `${watched.tokens.size} tokens`)
    assert.deepEqual(await watched.places(fresh), [])
    const cookies = await own.cookies()
    assert.ok(cookies.length > 0)
    // The session of the issuer. No script reads it, and forms of other sites do not send it.
    assert.deepEqual(
      cookies.filter(({ httpOnly, sameSite }) => !httpOnly || sameSite !== 'Lax'),
      [],
    )
  })

  it('refuses to be in a frame of another site', async () => {
    const signIn = '/oidc/authorize?client_id=quayside-console&response_type=code&scope=openid'
    for (const path of ['/', `/organizations/${ours.server.organizationId}`, '/login/auth0-callback', signIn]) {
      site.show(`<iframe src="${console}${path}"></iframe>`)
      await page.goto(site.origin)
      await until(`${path} is refused`, () => page.frames()[1]?.url().startsWith('chrome-error:'))
    }
  })

  it('has no connection to a page that opens it', async () => {
    site.show(`<button onclick="opened = window.open('${ours.home}')">Open</button>`)
    await page.goto(site.origin)
    const [popup] = await Promise.all([context.waitForEvent('page'), page.getByRole('button').click()])
    await popup.getByRole('heading', { name: 'Projects' }).waitFor()
    assert.equal(await popup.evaluate('opener'), null)
    assert.equal(await page.evaluate('opened.closed'), true)
    await popup.close()
  })

  it('changes nothing for a form or a script of another site', async () => {
    const before = await countProjects()
    const target = `${console}/organization/${ours.server.organizationId}/project`
    site.show(`<form method="post" action="${target}" enctype="text/plain">
      <input name='{"name":"stolen","description":"' value='"}'><button>Send</button></form>`)
    await page.goto(site.origin)
    const [sent] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.getByRole('button').click(),
    ])
    assert.equal(sent.status(), 415)
    await page.goto(site.origin)
    const read = `fetch('${target}', { credentials: 'include' }).then((answer) => answer.text(), () => 'refused')`
    assert.equal(await page.evaluate(read), 'refused')
    const authorize = `${console}/oidc/authorize?client_id=quayside-console&prompt=none&response_type=code&scope=openid`
    const silent = `fetch('${authorize}', { credentials: 'include' }).then((answer) => answer.url, () => 'refused')`
    assert.equal(await page.evaluate(silent), 'refused')
    assert.equal(await countProjects(), before)
  })

  for (const to of [
    '//hostile.test/',
    '/\\hostile.test',
    '/\t/hostile.test',
    'https://hostile.test',
    'javascript:x()',
  ]) {
    it(`leads from a sign-in to its own pages alone, not to ${JSON.stringify(to)}`, async () => {
      await page.goto(`${ours.home}/settings/members`)
      await page.getByRole('heading', { name: 'Members' }).waitFor()
      await page.evaluate(
        `sessionStorage.setItem('quayside.return', ${JSON.stringify(JSON.stringify({ state: 's', to }))})`,
      )
      await page.goto(`${console}/login/auth0-callback?code=c&state=s`)
      await hasProjects()
      assert.equal(new URL(page.url()).origin, console)
    })
  }

  it('leads to no other site from the pages of the issuer', async () => {
    const hostile = encodeURIComponent('https://hostile.test/')
    for (const path of [
      `/oidc/authorize?client_id=quayside-console&response_type=code&scope=openid&redirect_uri=${hostile}`,
      `/oidc/v2/logout?client_id=quayside-console&post_logout_redirect_uri=${hostile}`,
      `/login/auth0-callback?error=access_denied&error_uri=${hostile}&state=x`,
    ]) {
      await page.goto(`${console}${path}`)
      assert.equal(new URL(page.url()).origin, console)
    }
    await hasProjects()
    assert.deepEqual(ours.errors, [])
  })
})
