import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { until } from '../support/until.ts'

interface Stages {
  readonly results: readonly {
    readonly name: string
    readonly services: readonly { readonly service_id: string; readonly is_skipped: boolean }[]
  }[]
}

// A person who arranges the stages and the hours of an environment. The tests build on each other.

describe('stages and hours in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let environmentId: string
  let shop: string

  before(async () => {
    session = await openConsole()
    environmentId = await makeEnvironment(session.server, 'staging')
    const git_repository = { url: `${session.server.apiUrl}/git/shop.git`, branch: 'main' }
    const body = { name: 'shop', git_repository }
    const path = `/environment/${environmentId}/application`
    shop = (await session.server.must<{ id: string }>('POST', path, body)).id
    await session.open(`/environments/${environmentId}`)
    await openTab('Stages')
  })
  after(() => session?.close())

  const openTab = async (name: string): Promise<void> => {
    const tab = session.page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name })
    await tab.click()
    await tab.and(session.page.locator('[aria-current="page"]')).waitFor()
  }
  const dialog = () => session.page.getByRole('dialog')
  const heading = (name: string, level = 1) => session.page.getByRole('heading', { name, level, exact: true })
  const button = (name: string) => session.page.getByRole('button', { name, exact: true })
  const stored = async () =>
    (await session.server.must<Stages>('GET', `/environment/${environmentId}/deploymentStage`)).results
  const order = async (): Promise<string[]> => (await stored()).map(({ name }) => name)
  const stageOfShop = async (): Promise<string | undefined> =>
    (await stored()).find(({ services }) => services.some(({ service_id }) => service_id === shop))?.name
  const becomes = (what: string, isSo: () => Promise<boolean>): Promise<boolean> =>
    until(what, async () => (await isSo()) || undefined)

  it('creates a stage, and shows the message of the API about a name that is taken', async () => {
    const { page } = session
    const dialog = page.getByRole('dialog')
    await button('New stage').click()
    await dialog.getByLabel('Name', { exact: true }).fill('DEFAULT JOB')
    await dialog.getByRole('button', { name: 'Create the stage' }).click()
    await dialog.getByText(/already exists/).waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('Name', { exact: true }).fill('last')
    await dialog.getByRole('button', { name: 'Create the stage' }).click()
    await heading('last', 3).waitFor()
    assert.equal((await order()).at(-1), 'last')
  })

  it('moves a stage with the keyboard', async () => {
    const { page } = session
    const before = await order()
    await button('Move last earlier').focus()
    await page.keyboard.press('Enter')
    await becomes('the stage is moved', async () => (await order()).indexOf('last') === before.length - 2)
    await page.locator(`button[aria-label="Move ${before[0]} earlier"][title="it is the first stage"]`).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('moves stages and services by drag', async () => {
    const { page } = session
    await heading('last', 3).dragTo(heading('DEFAULT DATABASE', 3))
    await becomes('the stage is first', async () => (await order())[0] === 'last')
    await page.getByText('shop', { exact: true }).dragTo(heading('last', 3))
    await becomes('the service is in it', async () => (await stageOfShop()) === 'last')
    await page.locator('button[aria-label="Delete last"][title="it has services"]').waitFor()
  })

  it('moves a service with the keyboard, leaves it out, renames the stage and deletes it', async () => {
    const { page } = session
    await page.getByLabel('Stage of shop').selectOption({ label: 'DEFAULT JOB' })
    await becomes('the service is in it', async () => (await stageOfShop()) === 'DEFAULT JOB')
    await page.getByLabel('left out').click()
    await becomes('the service is left out', async () =>
      (await stored()).some(({ services }) => services.some(({ is_skipped }) => is_skipped)),
    )
    await button('Edit last').click()
    await dialog().getByLabel('Name', { exact: true }).fill('final')
    await dialog().getByLabel('Description').fill('after all others')
    await dialog().getByRole('button', { name: 'Save the stage' }).click()
    await page.getByText('after all others').waitFor()
    await button('Delete final').click()
    await dialog().getByLabel('to confirm').fill('final')
    assert.deepEqual(await violations(page), [])
    await dialog().getByRole('button', { name: 'Delete the stage' }).click()
    await dialog().waitFor({ state: 'detached' })
    await gone(heading('final', 3))
    assert.deepEqual((await order()).includes('final'), false)
  })

  it('draws the hours as a week, and saves them', async () => {
    const { page, server } = session
    await openTab('Hours')
    const week = page.getByRole('list', { name: 'Running hours of a week' })
    await page.getByLabel('Start', { exact: true }).fill('22:00')
    await page.getByLabel('Stop', { exact: true }).fill('06:30')
    await week.getByText('00:00–06:30, 22:00–24:00').first().waitFor()
    await page.getByLabel('Time zone').fill('Mars/Olympus')
    await button('Save the hours').click()
    await page.getByRole('alert').getByText('timezone').waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Time zone').fill('Europe/Paris')
    await page.getByLabel('Sunday').uncheck()
    await page.getByLabel('Stop the services outside of these hours').check()
    await button('Save the hours').click()
    await page.getByText('Saved.').waitFor()
    const rule = await server.must<Record<string, unknown>>('GET', `/environment/${environmentId}/deploymentRule`)
    assert.partialDeepStrictEqual(rule, {
      auto_stop: true,
      timezone: 'Europe/Paris',
      start_time: '1970-01-01T22:00:00.000Z',
      stop_time: '1970-01-01T06:30:00.000Z',
    })
    assert.ok(!String(rule['weekdays']).includes('SUNDAY'))
    await page.setViewportSize({ width: 380, height: 800 })
    assert.deepEqual(await violations(page), [])
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    assert.deepEqual(session.objections, [])
  })
})
