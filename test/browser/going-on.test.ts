import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'
import { crashing, web } from '../support/trees.ts'

describe('the first page of the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let shop: TestApplication

  before(async () => {
    ours = await openConsole()
    const environmentId = await makeEnvironment(ours.server, 'staging')
    shop = await makeApplication(ours.server, { environmentId, name: 'shop' })
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  it('shows a deployment in progress and its failure, and is quiet when all is well', async () => {
    const { page } = ours
    await ours.open('')
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    const now = page.getByRole('region', { name: 'In progress and failed' })
    assert.equal(await now.count(), 0)
    await shop.ship(crashing('the price list is missing'))
    await now.getByText(/deploying|queued|building/).waitFor()
    await now.getByText('deployment error').waitFor({ timeout: 60_000 })
    await now.getByRole('link', { name: 'staging / staging' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await shop.ship(web('first'))
    await gone(now, 60_000)
    assert.deepEqual(ours.objections, [])
  })
})
