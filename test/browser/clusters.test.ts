import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { gone } from '../support/gone.ts'

// A person who checks the built-in cluster, locks it, and connects another one. The tests build on
// each other.

const kubeconfig = `apiVersion: v1
kind: Config
current-context: far
clusters: [{ name: far, cluster: { server: "https://kubernetes.invalid:6443" } }]
contexts: [{ name: far, context: { cluster: far, user: far } }]
users: [{ name: far, user: { token: swordfish-token } }]
`

describe('clusters in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page

  before(async () => {
    ours = await openConsole()
    ;({ page } = ours)
  })
  after(() => ours?.close())

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()

  it('shows the room of the machine on the first page', async () => {
    const room = page.getByRole('region', { name: 'Room of local' })
    await room.getByText(/ of .* cores$/).waitFor()
    await room
      .getByText(/GiB of .* GiB$/)
      .first()
      .waitFor()
    await room.getByText('1 run').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows the checks of a cluster one by one', async () => {
    await ours.open('/settings')
    await page.getByRole('link', { name: 'Clusters' }).click()
    const table = page.getByRole('region', { name: 'Clusters', exact: true })
    await table.getByText('deployed').waitFor()
    assert.deepEqual(await violations(page), [])
    await table.getByRole('link', { name: 'local' }).click()
    await page.getByText('Nothing was checked yet.').waitFor()
    await button('Check').click()
    await page.getByText('A dry run of the cluster was requested by Ada Owner.').waitFor()
    await page.getByText('Checking that the engine answers.').waitFor()
    await page.getByText('The cluster can be deployed. Nothing was changed.').waitFor()
    await page.getByRole('region', { name: 'Environments of the cluster' }).getByText('hello').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows the machine of a cluster with its use, its containers and its conditions', async () => {
    const node = page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row').nth(1)
    await node.getByText('available', { exact: true }).waitFor()
    await node.getByText(hostname()).waitFor()
    await node.getByText(/ cores? of [\d.]+ cores?$/).waitFor()
    await node.getByText(/GiB of [\d.]+ GiB$/).waitFor()
    await node.getByText('1 condition', { exact: true }).click()
    await node.getByText('The Docker Engine answers.').waitFor()
    const containers = async () => Number(await node.getByRole('cell').last().textContent())
    assert.ok((await containers()) > 0)
    assert.deepEqual(await violations(page), [])
  })

  it('locks a cluster, says who forbids its deployment and why, and unlocks it', async () => {
    await button('Lock …').click()
    await dialog().getByLabel('Reason').fill('freeze of the year')
    await dialog().getByLabel('Days').fill('0')
    await confirm('Lock')
    await dialog().getByRole('alert').filter({ hasText: 'ttl_in_days' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog().getByLabel('Days').fill('2')
    await confirm('Lock')
    await page.getByText(/^Locked by Ada Owner/).waitFor()
    assert.equal(await button('Deploy').getAttribute('title'), 'it is locked by Ada Owner: freeze of the year')
    await button('Unlock').click()
    await gone(page.getByText(/^Locked by Ada Owner/))
    assert.equal(await button('Deploy').getAttribute('title'), null)
  })

  it('shows the message of the API about a wrong record and a wrong kubeconfig at their fields', async () => {
    await page.getByRole('navigation', { name: 'Way to this page' }).getByRole('link', { name: 'Clusters' }).click()
    await button('Connect a cluster').click()
    await dialog().getByLabel('Name').fill('local')
    await dialog().getByLabel('Region').fill('here')
    assert.deepEqual(await violations(page), [])
    await confirm('Continue')
    await dialog().getByRole('alert').filter({ hasText: 'local' }).waitFor()
    await dialog().getByLabel('Name').fill('far')
    await confirm('Continue')
    const field = dialog().getByLabel('Kubeconfig')
    await field.fill('apiVersion: v1')
    await confirm('Store the kubeconfig')
    await dialog().getByText('The body must be a kubeconfig: apiVersion v1, kind Config.').waitFor()
    assert.deepEqual(await violations(page), [])
    await field.fill(kubeconfig.replace('token:', 'username:'))
    await confirm('Store the kubeconfig')
    await dialog().getByText('username is not accepted').waitFor()
    await field.fill(kubeconfig)
    await confirm('Store the kubeconfig')
    await page.getByRole('heading', { name: 'far', exact: true }).waitFor()
  })

  it('shows why the API server of a connected cluster does not answer', async () => {
    await page.getByText('unreachable', { exact: true }).waitFor({ timeout: 60_000 })
    await page
      .getByText(/kubernetes\.invalid/)
      .first()
      .waitFor()
    assert.ok(!(await page.content()).includes('swordfish'))
    assert.deepEqual(await violations(page), [])
  })

  it('changes the domain of a cluster, and shows the message of the API at a missing field', async () => {
    await button('DNS').click()
    await dialog().getByLabel('Name servers').selectOption('Cloudflare')
    await dialog().getByLabel('Domain').fill('apps.example.org')
    await confirm('Save')
    await dialog().getByText('dns_provider.email is required.').waitFor()
    assert.deepEqual(await violations(page), [])
    await dialog().getByLabel('E-mail address of the account').fill('ada@example.org')
    await dialog().getByLabel('API token').fill('swordfish-dns')
    await confirm('Save')
    await dialog().waitFor({ state: 'detached' })
    await button('DNS').click()
    assert.equal(await dialog().getByLabel('Domain').inputValue(), 'apps.example.org')
    assert.equal(await dialog().getByLabel('API token').inputValue(), '')
    await dialog().getByLabel('Name servers').selectOption('set up by you, as a wildcard record')
    await confirm('Save')
    await dialog().waitFor({ state: 'detached' })
    const { dns_provider: stored } = await ours.server.must<{ dns_provider: unknown }>(
      'GET',
      `/cluster/${page.url().split('/').at(-1)}/dnsProvider`,
    )
    assert.deepEqual(stored, { provider: 'QOVERY', domain: 'apps.example.org' })
  })

  it('downloads the stored kubeconfig, which no page shows', async () => {
    await button('Kubeconfig').click()
    const saved = page.waitForEvent('download')
    await confirm('Download the stored one')
    const download = await saved
    assert.equal(download.suggestedFilename(), 'far.yaml')
    assert.equal(await readFile(await download.path(), 'utf8'), kubeconfig)
    assert.ok(!(await page.content()).includes('swordfish'))
    await confirm('Close')
  })

  it('edits the record of a cluster', async () => {
    const label = { key: 'team', value: 'far', propagate_to_cloud_provider: false }
    const group = { name: 'teams', labels: [label] }
    const groups = `/organization/${ours.server.organizationId}/labelsGroups`
    const { id: groupId } = await ours.server.must<{ id: string }>('POST', groups, group)
    await button('Edit').click()
    await dialog().getByLabel('teams').check()
    await dialog().getByLabel('Least nodes').fill('5')
    await confirm('Save')
    await dialog().getByText('min_running_nodes must not be greater than max_running_nodes.').waitFor()
    await dialog().getByLabel('Most nodes').fill('7')
    await dialog().getByLabel('Description').fill('the far one')
    await confirm('Save')
    await dialog().waitFor({ state: 'detached' })
    const { results } = await ours.server.must<{ results: { name: string; [field: string]: unknown }[] }>(
      'GET',
      `/organization/${ours.server.organizationId}/cluster`,
    )
    const far = results.find(({ name }) => name === 'far')
    assert.partialDeepStrictEqual(far, { max_running_nodes: 7, labels_groups: [{ id: groupId }] })
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
  })

  it('deletes a cluster once its name is typed, and says what is lost', async () => {
    await button('Delete …').click()
    await dialog().getByText('the record of the cluster far, with its kubeconfig').waitFor()
    await dialog().getByText('the objects of the platform on it').waitFor()
    await dialog().getByLabel('It deletes').selectOption('DELETE_QOVERY_CONFIG')
    await dialog().getByText('the objects of the platform on it').waitFor({ state: 'detached' })
    await dialog().getByLabel('to confirm').fill('far')
    assert.deepEqual(await violations(page), [])
    await confirm('Delete the cluster')
    await page.getByRole('heading', { name: 'Clusters', exact: true }).waitFor()
    await gone(page.getByRole('link', { name: 'far', exact: true }))
  })

  it('stops a cluster, whose services stop, and deploys it again', async () => {
    await page.setViewportSize({ width: 1200, height: 900 })
    await page.getByRole('link', { name: 'local', exact: true }).click()
    await button('Stop …').click()
    await dialog().getByText('1 service').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Stop the cluster')
    const head = page.locator('header').filter({ has: page.getByRole('heading', { name: 'local', exact: true }) })
    await head.getByText('stopped', { exact: true }).waitFor({ timeout: 60_000 })
    const environments = page.getByRole('region', { name: 'Environments of the cluster' })
    await environments.getByRole('link').first().click()
    await page.getByText('stopped', { exact: true }).first().waitFor({ timeout: 60_000 })
    await page.goBack()
    await button('Deploy').click()
    await head.getByText('deployed', { exact: true }).waitFor({ timeout: 60_000 })
    assert.deepEqual(ours.objections, [])
  })
})
