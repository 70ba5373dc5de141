import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'

// Advanced settings of a service and of a cluster. The tests build on each other.

const grace = 'deployment.termination_grace_period_seconds'
const placement = 'deployment.affinity.node.required'
const origins = 'network.ingress.denylist_source_range'

describe('advanced settings in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let shop: TestApplication

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    shop = await makeApplication(ours.server, {
      environmentId: await makeEnvironment(ours.server, 'advanced'),
      name: 'shop',
    })
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const field = (key: string) => page.getByLabel(key, { exact: true })
  const row = (key: string) => page.getByRole('listitem').filter({ has: page.getByText(key, { exact: true }) })
  const stored = () => ours.server.must<Record<string, unknown>>('GET', `/application/${shop.id}/advancedSettings`)

  it('shows each setting with its default, and finds one by its name', async () => {
    await ours.open(`/environments/${shop.environmentId}/application/${shop.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Advanced' }).click()
    await gone(row('cronjob.concurrency_policy'))
    await row(grace).getByText('Default: 60').waitFor()
    assert.equal(await row(grace).getByRole('button').getAttribute('title'), 'it has its default')
    assert.equal(await button('Save').getAttribute('title'), 'nothing is changed')
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Find a setting').fill('grace')
    await gone(row(placement))
    assert.equal(await row(grace).count(), 1)
  })

  it('shows the message of the API at a wrong value, and at one without an effect', async () => {
    await field(grace).fill('long')
    await button('Save').click()
    await row(grace).getByRole('alert').waitFor()
    assert.deepEqual(await violations(page), [])
    await field(grace).fill('20')
    await page.getByLabel('Find a setting').fill('')
    await field(placement).fill('disk=fast')
    await button('Save').click()
    await row(placement).getByText('has no nodes or zones to choose from').waitFor()
    await button(`Reset ${placement}`).click()
  })

  it('saves changes, keeps texts of digits as texts, and resets a setting', async () => {
    await field(origins).fill('10.0.0.0/8')
    await button('Save').click()
    await page.getByText('Everything is saved.').waitFor()
    const { [grace]: seconds, [placement]: nodes, [origins]: denied } = await stored()
    assert.deepEqual([seconds, nodes, denied], [20, {}, '10.0.0.0/8'])
    await page.getByLabel('Only changed ones').check()
    assert.equal(
      await page
        .getByRole('list')
        .getByRole('button', { name: /^Reset / })
        .count(),
      2,
    )
    await button(`Reset ${grace}`).click()
    await button('Save').click()
    await page.getByText('Everything is saved.').waitFor()
    assert.equal((await stored())[grace], 60)
  })

  it('shows why a setting of the built-in cluster has no effect', async () => {
    await ours.open('/settings/clusters')
    await page.getByRole('region', { name: 'Clusters', exact: true }).getByRole('link', { name: 'local' }).click()
    await page.getByRole('link', { name: 'Advanced', exact: true }).click()
    await field('load_balancer.size').fill('lb-l')
    await button('Save').click()
    await row('load_balancer.size').getByText('manages no load balancer').waitFor()
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(ours.objections, [])
  })
})
