import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { commitOf, github } from '../support/git-provider.ts'
import { openGuest, roleNamed } from '../support/guest.ts'

// The settings of an organization that services refer to. The tests build on each other.

type Group = Readonly<{ id: string; name: string; labels: { key: string; value: string }[]; scopes: string[] }>

describe('settings of an organization in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let shop: TestApplication

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
    const environmentId = await makeEnvironment(ours.server, 'settings')
    shop = await makeApplication(ours.server, { environmentId, name: 'shop' })
  })
  after(async () => {
    await shop?.git.remove()
    await ours?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const row = (table: string, text: string) =>
    page.getByRole('region', { name: table, exact: true }).getByRole('row').filter({ hasText: text })
  const read = <T>(path: string): Promise<T> =>
    ours.server.must<T>('GET', `/organization/${ours.server.organizationId}${path}`)

  it('creates a group of labels, and shows the message of the API at a wrong label', async () => {
    await ours.open('/settings/groups')
    await page.getByText('There is no group of labels yet.').waitFor()
    assert.deepEqual(await violations(page), [])
    await button('Create a group of labels').click()
    await dialog().getByLabel('Name').fill('team-shop')
    await dialog().getByLabel('Key').fill('team')
    await dialog().getByLabel('Value').fill('shop')
    await dialog().getByRole('button', { name: 'Add a label' }).click()
    await dialog().getByRole('group', { name: 'label 2' }).getByLabel('Key').fill('team')
    await confirm('Save')
    await dialog().getByRole('group', { name: 'label 2' }).getByText('labels[1].key is used twice.').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog().getByRole('button', { name: 'Remove label 2' }).click()
    await confirm('Save')
    await row('Groups of labels', 'team-shop').getByText('team=shop').waitFor()
    await row('Groups of labels', 'team-shop').getByText('nothing').waitFor()
  })

  it('creates a group of annotations for the chosen kinds of objects, and changes it', async () => {
    await button('Create a group of annotations').click()
    await dialog().getByLabel('Name').fill('scrape')
    await dialog().getByLabel('Key').fill('example.org/scrape')
    await dialog().getByLabel('Value').fill('yes')
    await dialog().getByLabel('services of Kubernetes').check()
    await confirm('Save')
    await row('Groups of annotations', 'scrape').getByText('pods, services of Kubernetes').waitFor()
    await button('Edit scrape').click()
    await dialog().getByLabel('pods').uncheck()
    await confirm('Save')
    await dialog().waitFor({ state: 'detached' })
    await row('Groups of annotations', 'scrape')
      .getByText(/^services of Kubernetes$/)
      .waitFor()
    const { results } = await read<{ results: Group[] }>('/annotationsGroups')
    assert.deepEqual(results[0]?.scopes, ['SERVICES'])
    assert.deepEqual(await violations(page), [])
  })

  it('adds a group to a service and scales it by events, and then refuses to delete the group', async () => {
    await ours.open(`/environments/${shop.environmentId}/application/${shop.id}/settings`)
    await page.getByLabel('team-shop').check()
    await page.getByLabel('Scaling between these numbers').selectOption('by events (KEDA)')
    await page.getByLabel('Enabled').uncheck()
    await page.getByLabel('Settings of the scaler').fill('timezone: UTC')
    await page.getByLabel('Sleeps after').fill('often')
    await button('Save').click()
    await page.getByRole('alert').filter({ hasText: 'autoscaling.cooldown_period_seconds' }).waitFor()
    await page.getByLabel('Sleeps after').fill('900')
    assert.deepEqual(await violations(page), [])
    await button('Save').click()
    await page.getByText('Everything is saved.').waitFor()
    const { labels_groups: groups, autoscaling } = await ours.server.must<Readonly<Record<string, unknown>>>(
      'GET',
      `/application/${shop.id}`,
    )
    assert.deepEqual(Object(groups)[0].name, 'team-shop')
    assert.equal(Object(autoscaling).cooldown_period_seconds, 900)
    await ours.open('/settings/groups')
    await button('1 object use team-shop').click()
    await dialog().getByRole('listitem').filter({ hasText: 'shop in' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Close')
    await button('Delete the group of labels “team-shop”').click()
    await confirm('Delete')
    await dialog().getByRole('alert').filter({ hasText: 'team-shop' }).waitFor()
    await confirm('Close')
  })

  it('deletes a group that nothing has', async () => {
    await button('Delete the group of annotations “scrape”').click()
    await confirm('Delete')
    await page.getByText('There is no group of annotations yet.').waitFor()
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
    await page.setViewportSize({ width: 1200, height: 900 })
  })

  it('creates a git webhook, shows its secret once, and shows a signed push of the provider', async () => {
    await ours.open('/settings/git-webhooks')
    await page.getByText('There is no git webhook yet.').waitFor()
    assert.deepEqual(await violations(page), [])
    await button('Create a git webhook').click()
    await dialog().getByLabel('Description').fill('the shop')
    await confirm('Create')
    const first = await dialog().getByLabel('Secret').inputValue()
    assert.deepEqual(await violations(page), [])
    await confirm('Close')
    await button('New secret of the shop').click()
    await confirm('Replace')
    const secret = await dialog().getByLabel('Secret').inputValue()
    assert.notEqual(secret, first)
    await confirm('Close')
    const [webhook] = (await read<{ results: { url: string }[] }>('/gitWebhook')).results
    const address = new URL(new URL(webhook?.url ?? '').pathname, ours.server.apiUrl)
    const push = (signedWith: string): Promise<Response> => {
      const message = github({ repository: 'team/shop', before: commitOf('a'), after: commitOf('b') }, signedWith)
      return fetch(address, { method: 'POST', ...message })
    }
    assert.equal((await push(first)).status, 401)
    assert.equal((await push(secret)).status, 202)
    await page.reload()
    await row('Git webhooks', 'the shop').getByText('accepted').waitFor()
    await button('Show the messages of the shop').click()
    await dialog().getByRole('row').filter({ hasText: 'push' }).getByText('accepted').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Close')
    await row('Pushes', 'team/shop').getByText('no service follows it').waitFor()
    assert.deepEqual(await violations(page), [])
    await button('Delete the git webhook “the shop”').click()
    await confirm('Delete')
    await page.getByText('There is no git webhook yet.').waitFor()
  })

  it('changes the record of the organization, and shows the message of the API at a wrong one', async () => {
    await ours.open('/settings/general')
    await page.getByLabel('Name', { exact: true }).fill('x'.repeat(256))
    await button('Save').click()
    await page.getByRole('alert').filter({ hasText: 'name' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Name', { exact: true }).fill('shop & sons')
    await page.getByLabel('Addresses of administrators').fill('ada@example.org')
    await button('Save').click()
    await page.getByRole('banner').getByText('shop & sons').waitFor()
    const { name, admin_emails: emails } = await read<Readonly<Record<string, unknown>>>('')
    assert.deepEqual([name, emails], ['shop & sons', ['ada@example.org']])
  })

  it('changes the key that seals the secrets', async () => {
    await page.getByText('The first key is in use.').waitFor()
    await button('Change the key').click()
    await page.getByText('Last change:').getByText('success').waitFor()
    assert.deepEqual(await violations(page), [])
    assert.equal((await read<{ old_key_rows: number }>('/keyRotation')).old_key_rows, 0)
  })

  it('creates an organization, and deletes it once its name is typed', async () => {
    await button('New organization').click()
    await dialog().getByLabel('Name').fill('second')
    assert.deepEqual(await violations(page), [])
    await confirm('Create the organization')
    await page.getByRole('banner').getByText('second').waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('link', { name: 'Organization', exact: true }).click()
    await button('Delete the organization …').click()
    await dialog().getByLabel('to confirm').fill('second')
    assert.deepEqual(await violations(page), [])
    await confirm('Delete the organization')
    await page.getByRole('banner').getByText('shop & sons').waitFor()
  })

  it('refuses to delete an organization with projects', async () => {
    await ours.open('/settings/general')
    await button('Delete the organization …').click()
    await dialog().getByLabel('to confirm').fill('shop & sons')
    await confirm('Delete the organization')
    await dialog().getByRole('alert').filter({ hasText: 'project' }).waitFor()
    await confirm('Close')
  })

  it('changes the contact address of the person', async () => {
    await ours.open('/settings/account')
    await page.getByText('Ada Owner').waitFor()
    await page.getByLabel('Contact address').fill('nowhere')
    await button('Save').click()
    await page.getByRole('alert').filter({ hasText: 'communication_email' }).waitFor()
    await page.getByLabel('Contact address').fill('ada@example.com')
    assert.deepEqual(await violations(page), [])
    await button('Save').click()
    await page.locator('button[title="nothing is changed"]').waitFor()
    await page.reload()
    assert.equal(await page.getByLabel('Contact address').inputValue(), 'ada@example.com')
  })

  it('transfers the ownership to another member, which the previous owner cannot undo', async () => {
    await ours.open('/settings/general')
    assert.equal(await button('Transfer the ownership …').getAttribute('title'), 'there is no other member')
    const guest = await openGuest(ours, await roleNamed(ours, 'Viewer'), 'Grace')
    await ours.open('/settings/general')
    await button('Transfer the ownership …').click()
    await dialog().getByLabel('New owner').selectOption('Grace, grace@example.org')
    assert.deepEqual(await violations(page), [])
    await confirm('Transfer')
    await page.getByText('Grace, grace@example.org').waitFor()
    await page.reload()
    assert.match(String(await button('Transfer the ownership …').getAttribute('title')), /Only the owner/)
    await guest.goto(`${ours.home}/settings/general`)
    assert.equal(await guest.getByRole('button', { name: 'Delete the organization …' }).getAttribute('title'), null)
  })

  it('has no error in its scripts', () => assert.deepEqual(ours.objections, []))
})
