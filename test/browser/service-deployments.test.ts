import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A person who looks at the deployments of a service, compares two of them and rolls back. The
// tests build on each other.

describe('the deployments of a service in the console', { skip: noBrowser ?? false }, () => {
  let session: TestConsole
  let shop: TestApplication
  let address = ''

  before(async () => {
    session = await openConsole()
    const { server, home } = session
    const environmentId = await makeEnvironment(server, 'staging')
    shop = await makeApplication(server, { environmentId, name: 'shop' })
    address = `${home}/environments/${environmentId}/application/${shop.id}`
    await shop.run(web('first'))
    await server.must('POST', `/application/${shop.id}/environmentVariable`, { key: 'COLOUR', value: 'blue' })
    const record = await server.must<object>('GET', `/application/${shop.id}`)
    await server.must('PUT', `/application/${shop.id}`, { ...record, memory: 96 })
    await shop.run(web('second'))
  })
  after(async () => {
    await shop?.git.remove()
    await session?.close()
  })

  const row = (place: number) => session.page.getByRole('region', { name: 'Deployments' }).getByRole('row').nth(place)
  const difference = () => session.page.getByRole('region', { name: 'Difference' })
  const state = (text: string) => session.page.locator('main header').getByText(text, { exact: true })

  it('says in words what runs, and lists the replicas', async () => {
    const { page } = session
    await page.goto(address)
    await page.getByText(/^Application\. It runs/).waitFor()
    const replicas = page.getByRole('region', { name: 'Replicas' })
    await replicas.getByText('running').waitFor()
    await page.getByRole('link', { name: shop.url }).waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows how a deployment differs from the one before it, and from any other', async () => {
    const { page } = session
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Deployments' }).click()
    const first = row(2).getByRole('button', { name: /^Changes/ })
    assert.equal(await first.getAttribute('title'), 'there is no version before it')
    await row(1)
      .getByRole('button', { name: /^Changes/ })
      .click()
    await difference().getByRole('row', { name: 'memory 64 96' }).waitFor()
    await difference().getByRole('rowheader', { name: 'Commit', exact: true }).waitFor()
    await difference().getByRole('rowheader', { name: 'Variable COLOUR' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('From').selectOption({ index: 0 })
    await page.getByText('The versions are equal.').waitFor()
  })

  it('rolls back to a version after it has shown the effect', async () => {
    const { page } = session
    assert.equal((await shop.answer()).body, 'second')
    await row(2)
      .getByRole('button', { name: /^Roll back/ })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Settings that become those of that time').getByText('memory').waitFor()
    await dialog.getByText('Variables that differ').getByText('COLOUR').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await dialog.waitFor({ state: 'detached' })
    await until('the first version answers', async () => (await shop.answer()).body === 'first', { limitMs: 60_000 })
    await state('deployed').waitFor()
    // The version has the variables of its time, and COLOUR is newer.
    await page.getByText('still runs without the last changes').waitFor()
  })

  it('deploys the same version again, cancels, and says why a version cannot return', async () => {
    const { page, server } = session
    await page.getByRole('button', { name: 'Same version' }).click()
    await until('there are four', async () => (await shop.history()).length === 4)
    await shop.settles()
    await page.getByRole('button', { name: 'Stop' }).click()
    await state('stopped').waitFor({ timeout: 60_000 })
    const stopped = row(1).getByRole('button', { name: /^Roll back/ })
    await until('the row is there', async () => (await stopped.getAttribute('title')) === 'it started no version')
    await shop.git.push(web('third', { buildMs: 60_000 }))
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await row(1).getByText('canceled').waitFor({ timeout: 60_000 })
    await server.sql`update release set is_kept = false where service_id = ${shop.id}`
    await row(6)
      .getByRole('button', { name: /^Roll back/ })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/is no longer kept/).waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Roll back' }).getAttribute('aria-disabled'), 'true')
    assert.deepEqual(session.errors, [])
  })
})
