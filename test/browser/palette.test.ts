import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { web } from '../support/trees.ts'

// A person who uses the console by commands and keys. The tests build on each other.

describe('the command palette', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  let environmentId: string

  before(async () => {
    session = await openConsole()
    environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    await shop.git.push(web('first'))
    await session.open(`/environments/${environmentId}`)
    await session.page.getByRole('heading', { name: 'staging' }).waitFor()
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const dialog = () => session.page.getByRole('dialog')
  const option = (name: RegExp) => dialog().getByRole('option', { name })
  const keys = async (...pressed: readonly string[]): Promise<void> => {
    for (const key of pressed) await session.page.keyboard.press(key)
  }
  const openPalette = async (): Promise<void> => {
    await keys('Control+k')
    await session.page.locator('[role="combobox"]:focus').waitFor()
  }
  const heading = (name: string): Promise<void> =>
    session.page.getByRole('heading', { name, exact: true, level: 1 }).waitFor()

  it('shows the actions of the page, and the reason of a refused one', async () => {
    const { page } = session
    await openPalette()
    const stop = option(/^Stop the environment/)
    await stop.getByText('it was never deployed').waitFor()
    assert.equal(await stop.getAttribute('aria-disabled'), 'true')
    assert.deepEqual(await violations(page), [])
    await page.keyboard.type('stop')
    await keys('Enter')
    await dialog().waitFor()
    await keys('Escape')
    await dialog().waitFor({ state: 'detached' })
  })

  it('finds a service of the organization, and says if nothing has the name', async () => {
    const { page } = session
    await page.getByRole('button', { name: /^Search/ }).click()
    await page.keyboard.type('nothing of this name')
    await dialog().getByText('Nothing has this name.').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog().getByRole('combobox').fill('shop stag')
    await option(/^shop staging \/ staging/).waitFor()
    await keys('Enter')
    await heading('shop')
  })

  it('runs an action of the service', async () => {
    const { page } = session
    await openPalette()
    await page.keyboard.type('deploy the service')
    await option(/^Deploy the service/).waitFor()
    await keys('Enter')
    await page.locator('main header').getByText('deployed', { exact: true }).waitFor({ timeout: 90_000 })
  })

  it('leads to pages by sequences of keys, and lists them', async () => {
    const { page } = session
    await keys('?')
    await dialog().getByRole('cell', { name: 'Projects' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await keys('g', 'p')
    await dialog().waitFor()
    await keys('Escape')
    await dialog().waitFor({ state: 'detached' })
    await keys('g', 'v')
    await page.getByLabel('Search in the keys').waitFor()
    await keys('g', 'e')
    await heading('staging')
    await keys('d')
    await dialog().getByText('Deploy staging').waitFor()
    assert.match(page.url(), /\?act=deploy$/)
    await keys('Escape')
    await dialog().waitFor({ state: 'detached' })
    assert.doesNotMatch(page.url(), /act/)
    await keys('g', 'p')
    await heading('Projects')
  })

  it('leaves the keys alone while somebody types', async () => {
    const { page } = session
    await session.open(`/environments/${environmentId}/variables`)
    const search = page.getByLabel('Search in the keys')
    await search.waitFor()
    await keys('/')
    await page.locator('input[type="search"]:focus').waitFor()
    await page.keyboard.type('g p?')
    assert.equal(await search.inputValue(), 'g p?')
    assert.match(page.url(), /variables$/)
    assert.equal(await dialog().count(), 0)
  })

  it('shows the error of an action that the API refuses', async () => {
    const { page, server } = session
    await session.open(`/environments/${environmentId}/application/${shop.id}`)
    await heading('shop')
    await page.route(`**/application/${shop.id}/restart-service`, (route) =>
      route.continue({ url: `${server.apiUrl}/nothing` }),
    )
    await openPalette()
    await page.keyboard.type('restart')
    await option(/^Restart the service/).waitFor()
    await keys('Enter')
    await dialog().getByRole('alert').getByText('The operation does not exist').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    await keys('Escape')
    await dialog().waitFor({ state: 'detached' })
    await openPalette()
    await option(/^Projects/).waitFor()
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(session.objections, [])
  })
})
