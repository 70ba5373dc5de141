import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'

describe('a canary deployment in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let shop: TestApplication

  before(async () => {
    ours = await openConsole()
    const environmentId = await makeEnvironment(ours.server, 'staging')
    shop = await makeApplication(ours.server, { environmentId, name: 'shop' })
    await shop.run(web('one'))
    await ours.server.must('PUT', `/application/${shop.id}/advancedSettings`, {
      'deployment.canary.steps': '20,50,80',
      'deployment.canary.step_seconds': 600,
    })
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  const step = () => ours.page.getByRole('region', { name: 'Canary deployment' })

  it('shows the share of a new version with its requests, and promotes it', async (t) => {
    const { page } = ours
    await ours.open(`/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    assert.equal(await step().count(), 0)
    await shop.ship(web('two'))
    await step().getByText('20 % of requests go to the new version').waitFor({ timeout: 60_000 })
    const traffic = startTraffic(shop.url, 20)
    t.after(async () => void (await traffic.stop()))
    await step()
      .getByText(/^0 of \d+ requests to it failed\. Above 5 % it goes back\.$/)
      .waitFor()
    assert.equal(await step().locator('[aria-current=step]').textContent(), '20 %')
    assert.deepEqual(await violations(page), [])
    await ours.open(`/environments/${shop.environmentId}/deployments`)
    const newest = page.getByRole('article').first()
    await newest.getByText(/^20 % of requests go to the new version\. 0 of \d+ requests to it failed/).waitFor()
    await ours.open(`/environments/${shop.environmentId}/application/${shop.id}`)
    await step().getByRole('button', { name: 'Promote now' }).click()
    await gone(step(), 60_000)
    await shop.settles()
    assert.deepEqual((await traffic.stop()).lost, [])
    assert.equal((await shop.answer()).body, 'two')
  })

  it('goes back to the previous version', async () => {
    await shop.ship(web('three'))
    await step().getByText('It had no requests in this step.').waitFor({ timeout: 60_000 })
    await ours.page.setViewportSize({ width: 380, height: 800 })
    const width = await ours.page.evaluate<number>('document.documentElement.scrollWidth')
    assert.ok(width <= 380, `the page is ${width} pixels wide`)
    await step().getByRole('button', { name: 'Go back' }).click()
    await gone(step(), 60_000)
    await shop.settles()
    assert.equal((await shop.answer()).body, 'two')
    assert.deepEqual(ours.objections, [])
  })
})
