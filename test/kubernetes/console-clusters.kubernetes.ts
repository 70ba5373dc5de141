import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { until } from '../support/until.ts'
import { kubeconfig } from './cluster/settings.ts'
import { clusterSettings } from './support/add-cluster.ts'
import { makeChart, smallChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'

// A person who connects the test cluster in the console, and changes the values of a chart on it.
// The tests build on each other.

describe('a cluster of Kubernetes in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let chart: TestChart
  let environmentId = ''

  before(async () => {
    ours = await openConsole({ ...clusterSettings('console-clusters'), QUAYSIDE_HELM: helmProgram })
    ;({ page } = ours)
  })
  after(async () => {
    await chart?.git.remove()
    if (environmentId !== '') {
      await ours.server.must('DELETE', `/environment/${environmentId}`)
      await until(
        'the environment is gone',
        async () => (await ours.server.api('GET', `/environment/${environmentId}`)).status === 404,
      )
    }
    await ours?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const state = (text: string) => page.locator('main header').getByText(text, { exact: true })

  test('a cluster is connected by its kubeconfig, checked and deployed', async () => {
    await ours.open('/settings/clusters')
    await button('Connect a cluster').click()
    await dialog().getByLabel('Name').fill('far')
    await dialog().getByLabel('Region').fill('here')
    await confirm('Continue')
    await dialog()
      .getByLabel('Kubeconfig')
      .fill(await readFile(kubeconfig, 'utf8'))
    await confirm('Store the kubeconfig')
    await page.getByRole('heading', { name: 'far', exact: true }).waitFor()
    await page.getByText('reachable', { exact: true }).waitFor({ timeout: 60_000 })
    await page.getByText(/^Kubernetes v1\./).waitFor()
    await button('Check').click()
    await page.getByText('The cluster can be deployed. Nothing was changed.').waitFor({ timeout: 120_000 })
    await page.getByText(/installs charts here/).waitFor()
    assert.deepEqual(await violations(page), [])
    await button('Deploy').click()
    await state('deployed').waitFor({ timeout: 120_000 })
    await page
      .getByRole('region', { name: 'Room of far' })
      .getByText(/ cores?$/)
      .waitFor()
  })

  test('the values of a chart are saved beside its defaults, and a wrong one shows its message', async () => {
    const clusterId = page.url().split('/').at(-1) ?? ''
    environmentId = await makeEnvironment(ours.server, 'console-clusters', clusterId)
    chart = await makeChart(ours.server, { environmentId, name: 'console-values' })
    await chart.git.push(smallChart())
    await ours.open(`/environments/${environmentId}/helm/${chart.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Values' }).click()
    await button('Show the default values').click()
    assert.match(await page.getByLabel('values.yaml').inputValue(), /text:/)
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Files', { exact: true }).selectOption('in a git repository')
    await page.getByLabel('Repository').fill(chart.git.url)
    await button('Save').click()
    await page.getByRole('alert').filter({ hasText: 'values_override.file.git.paths' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Files', { exact: true }).selectOption('written here')
    await page.getByLabel('Values', { exact: true }).fill('text: from a file\n')
    await page.getByRole('group', { name: 'Single texts' }).getByRole('button', { name: 'Add a value' }).click()
    await page.getByLabel('Path', { exact: true }).fill('text')
    await page.getByLabel('Value', { exact: true }).fill('007')
    await button('Save').click()
    await page.getByText('Everything is saved.').waitFor()
    const { values_override: values } = await ours.server.must<{ values_override: object }>('GET', `/helm/${chart.id}`)
    assert.deepEqual(values, {
      set: [],
      set_string: [['text', '007']],
      set_json: [],
      file: { raw: { values: [{ name: 'values.yaml', content: 'text: from a file\n' }] }, git: null },
    })
  })

  test('the difference of a chart lists objects and installs nothing', async () => {
    await button('Compare now').click()
    await page.getByText(/Nothing was installed\./).waitFor({ timeout: 120_000 })
    await page.getByText('1 to create').waitFor()
    await page.getByText(/^ConfigMap chart-\S+-small$/).click()
    await page
      .getByRole('region', { name: /^Changes of ConfigMap/ })
      .getByText('"007"')
      .waitFor()
    assert.equal((await chart.settles()).state, 'READY')
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual(ours.objections, [])
  })
})
