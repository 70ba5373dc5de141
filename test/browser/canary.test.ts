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
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  const step = () => ours.page.getByRole('region', { name: 'Canary deployment' })

  it('is planned on the page of the deployments of the service', async () => {
    const { page } = ours
    await ours.open(`/environments/${shop.environmentId}/application/${shop.id}/deployments`)
    const words = page.locator('main')
    await words.getByText('A new version gets all requests once it is healthy.').waitFor()
    await page.getByRole('button', { name: 'Change how a new version gets requests' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Steps').fill('20, half')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('"half" is not a percentage from 1 to 100').waitFor()
    await form.getByLabel('Steps').fill('20, 50, 80')
    await form.getByLabel('Seconds of each step').fill('600')
    await form.getByLabel('A request is slow after, in ms').fill('30000')
    assert.deepEqual(await violations(page), [])
    await form.getByRole('button', { name: 'Save' }).click()
    await words.getByText('A new version gets 20, 50 and then 80 % of the requests for 600 s each').waitFor()
    await words.getByText('or more than 5 % wait longer than 30000 ms for a response').waitFor()
  })

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
      .getByText(/^0 of \d+ requests to it failed\. Above 5 % it goes back\. 0 waited longer than 30000 ms/)
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
