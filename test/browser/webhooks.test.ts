import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { until } from '../support/until.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

// Webhooks with a real receiver, and the audit log of what was done. The tests build on each other.

describe('webhooks and the audit log in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let secret = ''

  before(async () => {
    receiver = await startReceiver()
    ours = await openConsole()
    ;({ page } = ours)
  })
  after(async () => {
    receiver?.close()
    await ours?.close()
  })

  const row = (table: string, text: string | RegExp) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()

  it('rejects an address that is not one, and an empty choice of events', async () => {
    await ours.open('/settings/webhooks')
    await page.getByRole('button', { name: 'Create a webhook' }).click()
    await dialog().getByLabel('Address').fill('ftp://example.org')
    await confirm('Save')
    await dialog()
      .getByRole('alert')
      .filter({ hasText: /target_url/ })
      .waitFor()
    for (const name of ['deployment started', 'deployment failure', 'deployment cancelled', 'deployment successful'])
      await dialog().getByLabel(name).uncheck()
    const save = dialog().getByRole('button', { name: 'Save' })
    assert.equal(await save.getAttribute('title'), 'Choose an event first.')
    assert.deepEqual(await violations(page), [])
  })

  it('creates a webhook with a filter, and shows its signing secret once', async () => {
    await dialog().getByLabel('Address').fill(receiver.url)
    await dialog().getByLabel('deployment successful').check()
    await dialog().getByLabel('Projects').fill('demo, shop*')
    await confirm('Save')
    secret = await dialog().getByLabel('Signing secret').inputValue()
    assert.match(secret, /^whsec_/)
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await row('Webhooks', receiver.url).getByText('demo, shop*').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows a delivery, and replays it with a new signature', async () => {
    const { organizationId } = ours.server
    const { results } = await ours.server.must<{ results: { id: string; name: string }[] }>(
      'GET',
      `/organization/${organizationId}/project`,
    )
    const demo = results.find(({ name }) => name === 'demo')?.id
    const environments = await ours.server.must<{ results: { id: string }[] }>('GET', `/project/${demo}/environment`)
    await ours.server.must('POST', `/environment/${environments.results[0]?.id}/deploy`)
    await until('the receiver heard of the deployment', () => receiver.deliveries[0])
    await page.getByRole('link', { name: receiver.url }).click()
    await row('Deliveries', 'deployment successful').getByText('delivered').waitFor()
    await row('Deliveries', 'deployment successful').getByRole('button', { name: 'Replay' }).click()
    await row('Deliveries', /replay/)
      .getByText('delivered')
      .waitFor()
    const [first, second] = receiver.deliveries
    assert.equal(second?.id, first?.id)
    assert.equal(second?.body, first?.body)
    new Webhook(secret).verify(second?.body ?? '', Object(second?.headers))
    await row('Deliveries', /replay/)
      .getByText('204')
      .click()
    await row('Deliveries', /replay/)
      .getByText('"current_status": "DEPLOYED"')
      .waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('refuses to replay while the webhook is disabled, with the reason on the button', async () => {
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog().getByLabel('Enabled').uncheck()
    await confirm('Save')
    await dialog().waitFor({ state: 'detached' })
    const replay = row('Deliveries', /replay/).getByRole('button', { name: 'Replay' })
    assert.match(String(await replay.getAttribute('title')), /disabled/)
  })

  it('shows in the audit log what changed, before and after', async () => {
    await page.getByRole('link', { name: 'Audit log' }).click()
    await page.getByLabel('Event', { exact: true }).selectOption('update')
    await page.getByLabel('Target', { exact: true }).selectOption('webhook')
    await page.getByLabel('Person').fill('Ada Owner')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.waitForURL(/type=UPDATE/)
    const only = row('Audit events', 'webhook')
    await only.getByText(/field/).first().click()
    const change = only.getByRole('row').filter({ hasText: 'enabled' })
    assert.deepEqual(await change.getByRole('cell').allInnerTexts(), ['true', 'false'])
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Person').fill('Nobody')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByText('No event fits.').waitFor()
  })

  it('turns the pages of the audit log', async () => {
    for (let count = 0; count < 31; count++)
      await ours.server.must('POST', `/organization/${ours.server.organizationId}/project`, {
        name: `project ${count}`,
      })
    await page.getByRole('link', { name: 'Audit log' }).click()
    await row('Audit events', 'project 30').first().waitFor()
    await page.getByRole('link', { name: 'Older' }).click()
    await row('Audit events', 'project 0').first().waitFor()
    await page.getByRole('link', { name: 'Newer' }).click()
    await row('Audit events', 'project 30').first().waitFor()
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
  })

  it('deletes a webhook', async () => {
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await confirm('Delete')
    await page.getByText('There is no webhook yet.').waitFor()
    assert.deepEqual(ours.objections, [])
  })
})
