import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { BrowserContext, Cookie, Page } from 'playwright-core'
import { noBrowser, openTestBrowser, owner, type TestBrowser } from '../support/chromium.ts'
import { findFreePort } from '../support/free-port.ts'
import { type HostileSibling, openHostileSibling, type TossedCookie } from '../support/hostile-sibling.ts'
import { type OutsideIssuer, startOutsideIssuer } from '../support/outside-issuer.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// Applications are below one domain with the platform. One of them sets cookies for all hosts of
// the domain: those that its author has after beginning a sign-in, or being signed in. The tests
// build on each other.

const domain = 'apps.internal'

describe('an application of somebody else below the domain', { skip: noBrowser ?? false }, () => {
  let [server, browser, sibling, outside]: [ServerProcess?, TestBrowser?, HostileSibling?, OutsideIssuer?] = []
  let directory = ''
  let publicUrl = ''
  /** The address of an application behind the sign-in. */
  let application = ''
  let author: BrowserContext
  let page: Page

  before(async () => {
    outside = await startOutsideIssuer()
    outside.people.set('grace', { name: 'Grace Hopper' })
    directory = await mkdtemp(join(tmpdir(), 'quayside-siblings-'))
    const clientSecretFile = join(directory, 'secret')
    await writeFile(clientSecretFile, outside.clientSecret)
    const { entry } = outside
    const issuers = [{ ...entry, signIn: { ...entry.signIn, clientSecretFile }, members: { grace: ['READ'] } }]
    const tlsPort = await findFreePort()
    const started = await startServer({
      env: {
        QUAYSIDE_DOMAIN: domain,
        QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort),
        QUAYSIDE_ACME_DIRECTORY: 'local',
        QUAYSIDE_OIDC_ISSUERS: JSON.stringify(issuers),
      },
    })
    server = started
    publicUrl = `https://quayside.${domain}:${tlsPort}`
    outside.register(publicUrl)
    sibling = await openHostileSibling(domain)
    browser = await openTestBrowser(domain)
    author = await browser.context({ ignoreHTTPSErrors: true, bypassCSP: true })
    page = await author.newPage()
    await makeOwner(started)
    application = await guardedApplication(started, tlsPort)
  })
  after(async () => {
    await browser?.close()
    sibling?.close()
    await server?.close()
    await outside?.close()
    if (directory) await rm(directory, { recursive: true, force: true })
  })

  async function makeOwner({ dataDirectory }: ServerProcess): Promise<void> {
    const link = (await readFile(join(dataDirectory, 'account-link'), 'utf8')).trim()
    await until('the platform answers over HTTPS', () => page.goto(link).catch(() => undefined))
    await page.getByLabel('Name').fill(owner.name)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel(/^Password/).fill(owner.password)
    await page.getByRole('button').click()
    await page.getByText('The account is ready').waitFor()
  }

  /** Puts the example behind the sign-in. Returns its address. */
  async function guardedApplication({ sql, must }: ServerProcess, port: number): Promise<string> {
    const [row] = await sql<{ host: string; service_id: string }[]>`
      select host, service_id from route where public_port is null and endpoints <> '[]' limit 1`
    const { host, service_id } = row ?? assert.fail('the example has no host')
    await must('PUT', `/application/${service_id}/advancedSettings`, { 'network.router.sign_in': 'member' })
    return `https://${host}:${port}/`
  }

  /** The address at which a program in the browser begins a sign-in. */
  const authorize = (): string =>
    `${publicUrl}/oidc/authorize?${new URLSearchParams({
      client_id: 'quayside-console',
      response_type: 'code',
      scope: 'openid profile email offline_access',
      redirect_uri: `${publicUrl}/login/auth0-callback`,
      state: 'a state',
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      code_challenge_method: 'S256',
    })}`

  async function fill(of: Page): Promise<void> {
    await of.getByLabel('E-mail address').fill(owner.email)
    await of.getByLabel('Password').fill(owner.password)
    await of.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  /** Opens the page of the other application in a new browser, which then has its cookies. */
  async function visit(cookies: readonly TossedCookie[]): Promise<Page> {
    assert.ok(browser && sibling)
    const visitor = await (await browser.context({ ignoreHTTPSErrors: true })).newPage()
    sibling.toss(cookies)
    await visitor.goto(sibling.page)
    return visitor
  }

  /** The cookies of the author, at each of these paths. */
  const cookiesAt = async (url: string, ...paths: string[]): Promise<TossedCookie[]> =>
    (await author.cookies(url)).flatMap(({ name, value }) => paths.map((path) => ({ name, value, path })))

  const asksForPassword = (of: Page): Promise<void> => of.getByLabel('E-mail address').waitFor()

  it('cannot give a visitor a sign-in that its author began', async () => {
    await page.goto(authorize())
    const uid = page.url().split('/').at(-1) ?? ''
    const [form, back] = [`/oidc/sign-in/${uid}`, `/oidc/authorize/${uid}`]
    const names = ['_interaction', '_interaction_resume']
    const visitor = await visit([
      ...(await cookiesAt(page.url(), '/', form, back)),
      ...names.flatMap((name) => [form, back].map((path) => ({ name, value: uid, path }))),
    ])
    assert.equal((await visitor.goto(publicUrl + form))?.status(), 404)
    await visitor.goto(`${publicUrl}${form}/0`)
    await visitor.getByText('Page not found').waitFor()
    await visitor.goto(publicUrl + back)
    await visitor.getByText('That did not work').waitFor()
  })

  it('cannot give a visitor the end of a sign-in', async () => {
    await page.goto(authorize())
    const uid = page.url().split('/').at(-1) ?? ''
    const back = `/oidc/authorize/${uid}`
    const fields = JSON.stringify({ email: owner.email, password: owner.password })
    const type = await page.evaluate(`fetch(location.href, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ ...Object.fromEntries(new FormData(document.forms[0])), ...${fields} }),
    }).then(({ type }) => type)`)
    assert.equal(type, 'opaqueredirect')
    const visitor = await visit([
      ...(await cookiesAt(publicUrl + back, '/', back)),
      { name: '_interaction_resume', value: uid, path: back },
    ])
    await visitor.goto(publicUrl + back)
    await visitor.getByText('That did not work').waitFor()
    await visitor.goto(authorize())
    await asksForPassword(visitor)
    // A visitor's own sign-in does not become that of the author.
    const own = `/oidc/authorize/${visitor.url().split('/').at(-1)}`
    sibling?.toss([{ name: '_interaction_resume', value: uid, path: own }])
    await visitor.goto(sibling?.page ?? '')
    await visitor.goto(publicUrl + own)
    await visitor.goto(authorize())
    await asksForPassword(visitor)
  })

  it('cannot give a visitor the session of its author', async () => {
    await page.goto(authorize())
    await fill(page)
    await page.waitForURL(/login\/auth0-callback/)
    const cookies = await cookiesAt(publicUrl, '/', '/oidc/authorize', '/oidc/applications')
    assert.ok(cookies.some(({ name }) => name.includes('session')))
    const visitor = await visit(cookies)
    await visitor.goto(authorize())
    await asksForPassword(visitor)
    await visitor.goto(`${publicUrl}/oidc/v2/logout`)
    await visitor.getByText('Signed out').waitFor()
  })

  it('cannot begin a sign-in of a visitor at an outside issuer', async () => {
    const visitor = await visit([])
    await visitor.goto(authorize())
    const form = visitor.url()
    const before = outside?.paths.length
    await visitor.goto(`${form}/0`)
    assert.equal(visitor.url(), form)
    await asksForPassword(visitor)
    await visitor.goto(sibling?.page ?? '')
    await visitor.evaluate(`document.body.innerHTML = '<form method="post" action="${form}/0"></form>'`)
    await visitor.evaluate('document.forms[0].submit()')
    await visitor.getByText('The form was not sent from this page').waitFor()
    assert.equal(outside?.paths.length, before, 'the issuer was asked')
    await visitor.getByRole('button', { name: 'Sign in with Example' }).click()
    await visitor.getByLabel('Name').fill('grace')
    await visitor.getByRole('button', { name: 'Continue' }).click()
    await visitor.waitForURL(/login\/auth0-callback/)
  })

  it('cannot give a visitor the session of its author at another application', async () => {
    const isAsked = async (visitor: Page) => {
      await visitor.goto(application)
      return visitor.url().includes('/oidc/sign-in/')
    }
    await until('a person must sign in', async () => isAsked(await visit([])))
    await page.goto(application)
    assert.equal(page.url(), application)
    const cookies = await cookiesAt(application, '/')
    assert.ok(cookies.some(({ name }) => name.includes('quayside-access-')))
    assert.ok(await isAsked(await visit(cookies)))
  })

  it('cannot set any cookie of the platform or its router', async () => {
    const cookies = await author.cookies()
    const isOwn = ({ name, domain: host, path, secure, httpOnly }: Cookie): boolean =>
      name.startsWith('__Host-') && !host.startsWith('.') && path === '/' && secure && httpOnly
    assert.ok(cookies.length >= 4, JSON.stringify(cookies))
    assert.deepEqual(
      cookies.filter((cookie) => !isOwn(cookie)),
      [],
    )
    const visitor = await visit(await cookiesAt(publicUrl, '/'))
    const accepted = await visitor.context().cookies()
    assert.ok(accepted.length > 0)
    assert.deepEqual(
      accepted.filter(({ name }) => name.startsWith('__Host-')),
      [],
    )
  })
})
