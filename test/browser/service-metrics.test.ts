import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { web } from '../support/trees.ts'

describe('the figures of a service in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication

  before(async () => {
    session = await openConsole()
    const environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  it('says that nothing runs, and draws CPU and memory of each replica with their limits', async () => {
    const { page, home, objections } = session
    await page.goto(`${home}/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Metrics' }).click()
    await page.getByText('No replica has sent a figure yet.').waitFor()
    await page.getByText('have no history').waitFor()
    assert.deepEqual(await violations(page), [])
    await shop.run(web('first'))
    await page.getByText(/^Memory: \d+ MiB of 64 MiB \(\d+ %\)$/).waitFor({ timeout: 30_000 })
    await page.getByText(/^CPU: \d+ mCPU of 250 mCPU/).waitFor()
    await page.getByRole('img', { name: /^Memory of .* over time\. Lowest \d+, highest \d+\.$/ }).waitFor()
    await page.locator('canvas').first().waitFor()
    await page.setViewportSize({ width: 380, height: 800 })
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(objections, [])
  })

  it('draws the requests that went through the router, and shows them in the environment', async () => {
    const { page, home, objections } = session
    await page.setViewportSize({ width: 1200, height: 900 })
    for (let sent = 0; sent < 7; sent++) assert.equal((await shop.answer()).status, 200)
    const environment = `${home}/environments/${shop.environmentId}`
    await page.goto(`${environment}/application/${shop.id}/metrics`)
    const total = page.locator('dl > div', { hasText: 'Requests' })
    await total.getByText('7', { exact: true }).waitFor({ timeout: 45_000 })
    await page.getByRole('img', { name: /^Requests over time: requests at most .* \/s\.$/ }).waitFor()
    await page.getByRole('img', { name: /^Response time over time: p50 at most / }).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByRole('navigation', { name: 'Time range' }).getByRole('link', { name: '7 d' }).click()
    await page.waitForURL(/range=7d/)
    await total.getByText('7', { exact: true }).waitFor()
    await page.goto(environment)
    await page.getByText(/^[\d.]+ requests\/s$/).waitFor()
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(objections, [])
  })
})
