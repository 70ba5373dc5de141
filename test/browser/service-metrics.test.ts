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
    await page.getByText('keeps no history').waitFor()
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
})
