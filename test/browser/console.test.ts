import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { buildConsole } from '../../bootstrap/console.mjs'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { createOwner, noBrowser, openTestBrowser, signIn, type TestBrowser, violations } from '../support/chromium.ts'
import { gone } from '../support/gone.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { crashing, web } from '../support/trees.ts'

// A person in front of the console, in a real browser and with a real server. The tests build on
// each other.

describe('the console', { skip: noBrowser ?? false }, () => {
  let server: ServerProcess
  let browser: TestBrowser
  let context: BrowserContext
  let page: Page
  let shop: TestApplication
  /** The objections of the browser. */
  const objections: string[] = []

  before(async () => {
    assert.equal(await buildConsole(new URL('../..', import.meta.url).pathname, process.execPath), undefined)
    server = await startServer()
    browser = await openTestBrowser()
    context = await browser.context()
    page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && objections.push(message.text()))
    page.on('pageerror', (error) => objections.push(error.message))
    await createOwner(page, server)
    shop = await makeApplication(server, { environmentId: await makeEnvironment(server, 'staging'), name: 'shop' })
  })
  after(async () => {
    await shop?.git.remove()
    await browser?.close()
    await server?.close()
  })

  const state = (text: string) => page.locator('main header').getByText(text, { exact: true })
  const environmentLink = () => page.getByRole('table').filter({ hasText: 'never' }).getByRole('link').first()

  it('leads to the sign-in page, and back to the address from which somebody came', async () => {
    await signIn(page, `${server.apiUrl}/organizations/${server.organizationId}`)
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    assert.equal(new URL(page.url()).pathname, `/organizations/${server.organizationId}`)
    assert.deepEqual(await violations(page), [])
  })

  it('says that signing in needs HTTPS or localhost', async () => {
    const insecure = await context.newPage()
    // Pages over plain HTTP of another machine have no cryptography.
    await insecure.addInitScript('Object.defineProperty(Crypto.prototype, "subtle", { value: undefined })')
    await insecure.goto(server.apiUrl)
    await insecure.getByRole('alert').filter({ hasText: 'over HTTPS, or at localhost' }).waitFor()
    assert.deepEqual(await violations(insecure), [])
    await insecure.close()
  })

  it('keeps no token outside of memory, and a reload asks for no password', async () => {
    await page.reload()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    assert.doesNotMatch(String(kept), /eyJ|token|quayside/)
  })

  it('shows a deployment until the service runs, without a reload', async () => {
    await environmentLink().click()
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await state('ready').waitFor()
    const stop = page.getByRole('button', { name: 'Stop' })
    assert.equal(await stop.getAttribute('aria-disabled'), 'true')
    assert.equal(await stop.getAttribute('title'), 'it was never deployed')
    await shop.git.push(web('first'))
    await page.getByRole('button', { name: 'Deploy' }).click()
    await state('deployed').waitFor({ timeout: 60_000 })
    await page.getByText('up first').waitFor()
    await page.getByRole('link', { name: shop.url }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows why a deployment failed', async () => {
    await shop.git.push(crashing('the price list is missing'))
    await page.getByRole('button', { name: 'Deploy' }).click()
    await state('deployment error').waitFor({ timeout: 60_000 })
    await page
      .getByText(/exited with code 7/)
      .first()
      .waitFor()
  })

  it('shows the effect of a deployment before it begins, and its pipeline and lines afterwards', async () => {
    await shop.git.push(web('third'))
    await page.getByRole('navigation', { name: 'Way to this page' }).getByRole('link', { name: 'staging' }).click()
    await page.getByRole('button', { name: 'Review and deploy' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('region', { name: 'shop' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await state('deployed').waitFor({ timeout: 60_000 })
    await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'Deployments' }).click()
    await page.getByRole('article').first().getByText('DEFAULT APPLICATION').waitFor()
    await page.getByText('shop: It is up.').last().waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('copies an environment and leads to the copy', async () => {
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Copy …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Copy', exact: true }).click()
    await page.getByRole('heading', { name: 'staging copy' }).waitFor()
    await page.getByRole('link', { name: 'shop', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'Services' }).click()
    await page.getByRole('link', { name: 'shop', exact: true }).click()
    await page.getByRole('heading', { name: 'shop' }).waitFor()
  })

  it('works by keyboard alone', async () => {
    await page.getByRole('button', { name: 'Restart' }).focus()
    await page.keyboard.press('Enter')
    await state('restarted').waitFor({ timeout: 60_000 })
  })

  it('says that the server is away, and catches up when it is back', async () => {
    await server.kill9()
    await page.getByText('The server cannot be reached.').waitFor({ timeout: 30_000 })
    await server.restart()
    await gone(page.getByText('The server cannot be reached.'), 30_000)
    await shop.git.push(web('second'))
    await shop.deploy()
    await state('deployed').waitFor({ timeout: 60_000 })
  })

  it('shows text of users as text', async () => {
    const name = '<img src=x onerror=alert(1)>'
    await server.must('POST', `/organization/${server.organizationId}/project`, { name })
    await page.goto(`${server.apiUrl}/`)
    await page.getByRole('heading', { name }).waitFor()
  })

  it('refuses frames, and runs no script from elsewhere', async () => {
    const { headers } = await fetch(`${server.apiUrl}/`)
    const policy = String(headers.get('content-security-policy'))
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    // The browser also logs every request that failed while the server was away.
    const others = objections.filter((text) => !/^Failed to load resource|^WebSocket connection/.test(text))
    assert.deepEqual(others, [])
  })
})
