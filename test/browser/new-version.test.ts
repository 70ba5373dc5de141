import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'

// A console that is built again while a page is open. In the new build the first script has another
// name, and until a page runs it, scripts that are loaded later are gone.

const mainOf = (text: string): string => /main-[A-Z0-9]{8}\.js/.exec(text)?.[0] ?? ''
const newMain = 'main-NEWBUILD.js'

describe('a new build of the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let settings = ''
  let loads = 0
  /** Whether the server has the new build, and the scripts that an old page no longer finds. */
  let isBuilt = false
  let gone: RegExp | undefined

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    const environmentId = await makeEnvironment(ours.server, 'staging')
    const registries = `/organization/${ours.server.organizationId}/containerRegistry`
    const { results } = await ours.server.must<{ results: { id: string }[] }>('GET', registries)
    const { id } = await ours.server.must<{ id: string }>('POST', `/environment/${environmentId}/container`, {
      ...{ name: 'stall', registry_id: results[0]?.id, image_name: 'team/stall', tag: '1' },
      ...{ ports: [], healthchecks: {}, memory: 256 },
    })
    settings = `/environments/${environmentId}/container/${id}/settings`
    // Code that the page loads while the browser is idle could fail before the input of a test, and
    // the page would reload itself.
    await page.addInitScript(() => Object.assign(globalThis, { requestIdleCallback: () => 0 }))
    await page.route('**/assets/*', answerAsset)
    await page.route((url) => url.pathname === '/' || url.pathname.startsWith('/organizations/'), answerPage)
    page.on('load', () => loads++)
  })
  after(() => ours?.close())
  beforeEach(async () => {
    isBuilt = false
    gone = /\/(?:BasePopup|Palette)-/
    await ours.open(settings)
    await page.getByLabel('Memory').waitFor()
    loads = 0
  })

  async function answerAsset(route: Route): Promise<void> {
    const url = route.request().url()
    if (gone?.test(url)) return route.fulfill({ status: 404 })
    if (!url.endsWith(newMain)) return route.continue()
    const index = await (await fetch(ours.server.apiUrl)).text()
    return route.continue({ url: url.replace(newMain, mainOf(index)) })
  }

  async function answerPage(route: Route): Promise<void> {
    if (!isBuilt) return route.continue()
    // The page of the new build names no script that is gone. It may ask for them in any order.
    if (route.request().isNavigationRequest()) gone = undefined
    const answer = await route.fetch()
    const body = await answer.text()
    return route.fulfill({ response: answer, body: body.replaceAll(mainOf(body), newMain) })
  }

  const copy = () => page.getByRole('button', { name: 'Copy the container …' })

  it('a page without input reloads itself once, and then has the new scripts', async () => {
    isBuilt = true
    const loaded = page.waitForEvent('load')
    await copy().click()
    await loaded
    await copy().click()
    await page.getByRole('dialog').getByLabel('Name of the copy').waitFor()
    assert.equal(loads, 1)
  })

  it('a page with input keeps it, and reloads when the person says so', async () => {
    isBuilt = true
    await page.getByLabel('Memory').fill('512')
    await copy().click()
    await page.getByText('The server has a new version of this page').waitFor()
    assert.equal(await page.getByLabel('Memory').inputValue(), '512')
    assert.deepEqual(await violations(page), [])
    assert.equal(loads, 0)
    const loaded = page.waitForEvent('load')
    await page.getByRole('button', { name: 'Reload', exact: true }).click()
    await loaded
    await copy().click()
    await page.getByRole('dialog').waitFor()
    assert.equal(loads, 1)
  })

  it('a link to a page whose scripts are gone leads there', async () => {
    isBuilt = true
    gone = /\/[A-Z][A-Za-z]+-/
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Variables' }).click()
    await page.getByRole('button', { name: 'New variable' }).waitFor()
    assert.match(page.url(), /\/variables$/)
    assert.equal(loads, 1)
  })

  it('a script that does not arrive from the same build is an error, and no reason to reload', async () => {
    await copy().click()
    await page.getByRole('heading', { name: 'That did not work' }).waitFor()
    gone = undefined
    await page.getByRole('button', { name: 'Try again' }).click()
    await copy().click()
    await page.getByRole('dialog').waitFor()
    assert.equal(loads, 0)
  })
})
