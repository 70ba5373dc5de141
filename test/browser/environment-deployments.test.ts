import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { silent, web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A person who watches the deployments of an environment, compares two and rolls back. The tests
// build on each other.

describe('deployments of an environment in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let environmentId: string
  let shop: TestApplication
  let cart: TestApplication

  before(async () => {
    session = await openConsole()
    environmentId = await makeEnvironment(session.server, 'staging')
    shop = await makeApplication(session.server, { environmentId, name: 'shop' })
    cart = await makeApplication(session.server, { environmentId, name: 'cart' })
    await shop.git.push(web('first'))
    await cart.git.push(web('steady'))
  })
  after(async () => {
    await shop?.git.remove()
    await cart?.git.remove()
    await session?.close()
  })

  const shown = () => session.page.getByRole('article')
  const rows = () => session.page.getByRole('region', { name: 'Deployments' }).locator('tbody tr')
  const dialog = () => session.page.getByRole('dialog')
  const isDone = (services: number) =>
    shown()
      .getByText('deployed', { exact: true })
      .nth(services - 1)
  const deploy = (): Promise<unknown> => session.server.must('POST', `/environment/${environmentId}/deploy`)

  it('says that nothing was deployed yet', async () => {
    await session.open(`/environments/${environmentId}/deployments`)
    await session.page.getByText('It was never deployed.').waitFor()
    assert.deepEqual(await violations(session.page), [])
  })

  it('shows a deployment as a pipeline while it runs, and on every page of the environment', async () => {
    const { page } = session
    await deploy()
    await page.getByRole('region', { name: 'Deployment in progress' }).getByText('deploy by admin').waitFor()
    await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'Variables' }).click()
    await page.getByRole('region', { name: 'Deployment in progress' }).getByRole('link', { name: 'Watch' }).click()
    await isDone(2).waitFor({ timeout: 120_000 })
    await shown().getByText('DEFAULT APPLICATION').waitFor()
    await shown()
      .getByText(/^[0-9a-f]{8} .*\(Ada\)$/)
      .first()
      .waitFor()
    await gone(page.getByRole('region', { name: 'Deployment in progress' }))
    assert.deepEqual(await violations(page), [])
  })

  it('cancels the deployment in progress', async () => {
    const { page } = session
    await shop.git.push(silent())
    await deploy()
    const now = page.getByRole('region', { name: 'Deployment in progress' })
    await now.getByRole('button', { name: 'Cancel' }).click()
    await gone(now, 60_000)
    await rows().first().getByText('canceled').waitFor()
  })

  it('shows an earlier deployment, whose address keeps it', async () => {
    const { page } = session
    await shop.git.push(web('second'))
    await deploy()
    await page.locator('main header').getByText('all 2 services run').waitFor({ timeout: 120_000 })
    await isDone(2).waitFor()
    await rows().nth(2).getByRole('link').click()
    await page.waitForURL(/deployment=/)
    await page.reload()
    await rows().nth(2).locator('a[aria-current="page"]').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('compares any two deployments service by service', async () => {
    const { page } = session
    const [last, first] = [0, 2]
    await rows()
      .nth(last)
      .getByRole('button', { name: /^Changes/ })
      .click()
    await page.getByLabel('From', { exact: true }).selectOption({ index: first })
    const ofShop = page.getByRole('region', { name: 'Difference of shop' })
    await ofShop.getByRole('rowheader', { name: 'Commit', exact: true }).waitFor()
    assert.match(page.url(), /from=.*to=/)
    assert.deepEqual(await violations(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await page.setViewportSize({ width: 1200, height: 900 })
  })

  it('rolls the chosen services back to an earlier deployment, and shows the effect first', async () => {
    const { page } = session
    assert.match((await shop.answer()).body, /second/)
    await rows()
      .nth(2)
      .getByRole('button', { name: /^Roll back/ })
      .click()
    const part = dialog().getByRole('region', { name: 'shop', exact: true })
    await part.getByRole('checkbox').and(page.locator(':enabled')).waitFor()
    assert.deepEqual(await violations(page), [])
    const ofCart = dialog().getByRole('region', { name: 'cart', exact: true }).getByRole('checkbox')
    if (await ofCart.isEnabled()) await ofCart.uncheck()
    await dialog().getByRole('button', { name: 'Roll back 1 of 2' }).click()
    await dialog().waitFor({ state: 'detached' })
    assert.equal((await shop.settles()).state, 'RUNNING')
    assert.match((await shop.answer()).body, /first/)
    assert.match((await cart.answer()).body, /steady/)
  })

  it('lists older deployments when a person asks for them', async () => {
    const { page, server } = session
    const path = `/environment/${environmentId}`
    const ended = (): Promise<unknown> =>
      until('the deployment has ended', async () => {
        const { results } = await server.must<{ results: { action_status: string }[] }>(
          'GET',
          `${path}/deploymentHistoryV2?pageSize=1`,
        )
        return /SUCCESS|ERROR|CANCELED/.test(results[0]?.action_status ?? '')
      })
    for (const _ of Array.from({ length: 9 })) {
      for (const action of ['stop', 'deploy']) {
        await server.must('POST', `/application/${shop.id}/${action}`, action === 'deploy' ? {} : undefined)
        await ended()
      }
    }
    await session.open(`/environments/${environmentId}/deployments`)
    await rows().nth(19).waitFor()
    assert.equal(await rows().count(), 20)
    const older = page.getByRole('button', { name: 'Older deployments' })
    await older.click()
    await rows().nth(20).waitFor()
    await gone(older)
    assert.deepEqual(await violations(page), [])
    await page.goto(`${session.home}/environments/${environmentId}/application/${shop.id}/deployments`)
    await rows().nth(19).waitFor()
    await older.click()
    await rows().nth(20).waitFor()
    assert.deepEqual(await violations(page), [])
    await session.open(`/environments/${environmentId}/deployments`)
    await older.click()
    await rows().nth(20).waitFor()
    // The first deployment can be compared and shown like the others.
    await rows().last().getByRole('link').click()
    await rows().last().locator('a[aria-current="page"]').waitFor()
    assert.deepEqual(session.objections, [])
  })
})
