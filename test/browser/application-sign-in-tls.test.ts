import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { noBrowser, openTestBrowser, owner, type TestBrowser } from '../support/chromium.ts'
import { findFreePort } from '../support/free-port.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// The sign-in over HTTPS: the platform and an application at names of their own, with certificates
// of the authority of the installation. The tests build on each other.

describe('an application behind the sign-in, over HTTPS', { skip: noBrowser ?? false }, () => {
  let server: ServerProcess
  let browser: TestBrowser
  let context: BrowserContext
  let page: Page
  /** The host of the example, and its address with HTTPS. */
  let host = ''
  let origin = ''

  before(async () => {
    const tlsPort = await findFreePort()
    server = await startServer({
      env: { QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort), QUAYSIDE_ACME_DIRECTORY: 'local' },
    })
    browser = await openTestBrowser()
    context = await browser.context({ ignoreHTTPSErrors: true })
    page = await context.newPage()
    const [row] = await server.sql<{ host: string; service_id: string }[]>`
      select host, service_id from route where public_port is null and endpoints <> '[]' limit 1`
    host = row?.host ?? assert.fail('the example has no host')
    origin = `https://${host}:${tlsPort}`
    await until('the example answers over HTTPS', () => page.goto(origin).catch(() => undefined))
    await server.must('PUT', `/application/${row?.service_id}/advancedSettings`, { 'network.router.sign_in': 'member' })
    const link = (await readFile(join(server.dataDirectory, 'account-link'), 'utf8')).trim()
    assert.match(link, new RegExp(`^https://quayside.localhost:${tlsPort}/setup/`))
    await page.goto(link)
    await page.getByLabel('Name').fill(owner.name)
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel(/^Password/).fill(owner.password)
    await page.getByRole('button').click()
    await page.getByText('The account is ready').waitFor()
  })
  after(async () => {
    await browser?.close()
    await server?.close()
  })

  it('leads from plain HTTP to the sign-in and back over HTTPS', async () => {
    const isAsked = async () => {
      await page.goto(`http://${host}:${server.routerPort}/report`)
      return page.url().includes('/oidc/sign-in/')
    }
    await until('a person must sign in', isAsked)
    assert.equal(new URL(page.url()).protocol, 'https:')
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${origin}/report`)
  })

  it('keeps a cookie for this host, for HTTPS, and away from scripts', async () => {
    const cookies = (await context.cookies(origin)).filter(({ name }) => name.includes('quayside'))
    assert.deepEqual(
      cookies.map(({ name, secure, httpOnly, sameSite, domain, path }) => ({
        name: name.replace(/[0-9a-f]{12}$/, ''),
        ...{ secure, httpOnly, sameSite, domain, path },
      })),
      [
        {
          name: '__Host-quayside-access-',
          ...{ secure: true, httpOnly: true, sameSite: 'Lax', domain: host, path: '/' },
        },
      ],
    )
    assert.equal(await page.evaluate('document.cookie'), '')
  })

  it('keeps the session from another browser that gets its address', async () => {
    const addresses: string[] = []
    page.on('request', (request) => void addresses.push(request.url()))
    await context.clearCookies({ name: /quayside-access/ })
    await page.goto(`${origin}/again`)
    assert.equal(page.url(), `${origin}/again`)
    const leaked = addresses.find((url) => url.includes('/.well-known/quayside/sign-in?')) ?? assert.fail('no return')
    const stranger = await (await browser.context({ ignoreHTTPSErrors: true })).newPage()
    assert.equal((await stranger.goto(leaked))?.status(), 400)
    await stranger.getByText('Signing in did not work').waitFor()
    assert.equal(stranger.url(), `${origin}/.well-known/quayside/sign-in`, 'the address has no token any more')
  })
})
