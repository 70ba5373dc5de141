import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { openGitRemote } from '../support/git-remote.ts'
import { type Outside, outsideLogin, startOutside } from '../support/outside.ts'

// Forms that suggest what a registry and a Helm repository have, and check it before they are sent.

const chartFile = 'apiVersion: v2\nname: shop\nversion: 1.0.0\n'
const stackBody = (git_repository: object) => ({
  terraform_files_source: { git_repository },
  terraform_variables_source: { tf_vars: [], tf_var_file_paths: [] },
  backend: { kubernetes: {} },
  engine: 'OPEN_TOFU',
  provider_version: { explicit_version: '1.9.0' },
  job_resources: { cpu_milli: 500, ram_mib: 256, storage_gib: 1 },
})
const chartBody = (git_repository: object, path: string) => ({
  source: { git_repository },
  arguments: [],
  allow_cluster_wide_resources: false,
  values_override: { file: { git: { git_repository, paths: [path] } } },
})

describe('suggestions of forms in the console', { skip: noBrowser ?? false }, () => {
  let ours: TestConsole
  let page: Page
  let outside: Outside
  let environmentId = ''

  before(async () => {
    outside = await startOutside()
    ours = await openConsole({ QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
    ;({ page } = ours)
    environmentId = await makeEnvironment(ours.server, 'suggestions')
    const at = `/organization/${ours.server.organizationId}`
    const about = { name: 'outside', description: '', config: outsideLogin }
    await ours.server.must('POST', `${at}/containerRegistry`, { ...about, kind: 'GENERIC_CR', url: outside.origin })
    await ours.server.must('POST', `${at}/helmRepository`, {
      ...about,
      kind: 'HTTPS',
      url: `${outside.origin}/charts`,
      skip_tls_verification: false,
    })
  })
  after(async () => {
    outside?.close()
    await ours?.close()
  })

  const suggested = async (field: Locator): Promise<string[]> => {
    await field.focus()
    const list = page.locator(`datalist[id="${await field.getAttribute('id')}-list"] option`)
    await list.first().waitFor({ state: 'attached' })
    return list.evaluateAll((options) => options.map((option) => option.getAttribute('value') ?? ''))
  }

  it('suggests the images of a registry, and the tags of an image', async () => {
    await ours.open(`/environments/${environmentId}/new/container`)
    await page.getByLabel('Registry').selectOption('outside')
    assert.deepEqual(await suggested(page.getByLabel('Image')), ['team/shop', 'team/web', 'other/shop'])
    await page.getByLabel('Image').fill('team/shop')
    assert.deepEqual((await suggested(page.getByLabel('Tag'))).toSorted(), ['1.0', '1.1', 'latest'])
    assert.deepEqual(await violations(page), [])
  })

  it('checks that the registry has an image before the form is sent', async () => {
    await page.getByLabel('Tag').fill('0.9')
    await page.getByRole('button', { name: 'Check the source' }).click()
    await page.getByRole('alert').filter({ hasText: '0.9' }).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Tag').fill('1.1')
    await page.getByRole('button', { name: 'Check the source' }).click()
    await page.getByText('The registry has the image.').waitFor()
  })

  it('suggests the images also for a job, whose image is inside of its source', async () => {
    await ours.open(`/environments/${environmentId}/new/job`)
    await page.getByLabel('Registry').selectOption('outside')
    await page.getByLabel('Image').fill('team/shop')
    assert.ok((await suggested(page.getByLabel('Tag'))).includes('1.1'))
  })

  it('suggests the charts of a Helm repository, and the versions of a chart', async () => {
    await ours.open(`/environments/${environmentId}/new/helm`)
    await page.getByLabel('Source', { exact: true }).selectOption('Helm repository')
    await page.getByLabel('Helm repository', { exact: true }).selectOption('outside')
    const chart = page.getByLabel('Chart', { exact: true })
    assert.ok((await suggested(chart)).includes('web'))
    await chart.fill('web')
    assert.deepEqual(await suggested(page.getByLabel('Version', { exact: true })), ['1.2.0', '1.1.0'])
    assert.deepEqual(await violations(page), [])
  })

  it('suggests the directories of a repository, and checks a Dockerfile and the files of a stack', async () => {
    const url = `${ours.server.apiUrl}/git/sources.git`
    const git = await openGitRemote({ url, token: ours.server.token })
    try {
      await git.push({ Dockerfile: 'ARG NAME\nFROM debian:13\n', 'main.tf': 'variable "size" {}\n', 'apps/shop/x': '' })
      await ours.open(`/environments/${environmentId}/new/application`)
      await page.getByLabel('Repository').fill(git.url)
      assert.deepEqual(await suggested(page.getByLabel('Root path')), ['/apps'])
      await page.getByLabel('Root path').fill('/apps/')
      await page.locator('datalist option[value="/apps/shop"]').waitFor({ state: 'attached' })
      await page.getByLabel('Root path').fill('')
      await page.getByRole('button', { name: 'Check the source' }).click()
      await page.getByText('The Dockerfile exists. It builds on debian').waitFor()
      await page.getByText('It takes the arguments NAME.').waitFor()
      await ours.open(`/environments/${environmentId}/new/terraform`)
      await page.getByLabel('Repository').fill(git.url)
      await page.getByRole('button', { name: 'Check the source' }).click()
      await page.getByText('It declares the variables size.').waitFor()
      assert.deepEqual(await violations(page), [])
    } finally {
      await git.remove()
    }
  })

  it('checks the files that the settings of a stack and the values of a chart name, when it is asked to', async () => {
    const url = `${ours.server.apiUrl}/git/named.git`
    const git = await openGitRemote({ url, token: ours.server.token })
    const requests: string[] = []
    page.on('request', (request) => request.url().endsWith('/checkGitFile') && requests.push(request.url()))
    try {
      await git.push({
        'stack/main.tf': '',
        'stack/big.tfvars': '',
        'chart/Chart.yaml': chartFile,
        'values/live.yaml': '',
      })
      const made = (kind: string, body: object) =>
        ours.server.must<{ id: string }>('POST', `/environment/${environmentId}/${kind}`, { name: kind, ...body })
      const stack = await made('terraform', stackBody({ url, branch: 'main', root_path: '/stack' }))
      await ours.open(`/environments/${environmentId}/terraform/${stack.id}/settings`)
      await page.getByLabel('Files of variables').fill('small.tfvars')
      await page.getByRole('button', { name: 'Check the source' }).click()
      await page.getByText('this branch has no file "stack/small.tfvars".').waitFor()
      await page.getByLabel('Files of variables').fill('big.tfvars')
      assert.equal(requests.length, 1)
      await page.getByRole('button', { name: 'Check the source' }).click()
      await page.getByText('The run reads big.tfvars.').waitFor()
      const git_repository = { url, branch: 'main', root_path: '/chart' }
      const chart = await made('helm', chartBody(git_repository, 'values/lost.yaml'))
      await ours.open(`/environments/${environmentId}/helm/${chart.id}/values`)
      await page.getByRole('button', { name: 'Check the source' }).click()
      await page.getByText('this branch has no file "values/lost.yaml".').waitFor()
      assert.deepEqual(await violations(page), [])
      await page.getByLabel('Paths of the files').fill('values/live.yaml')
      await page.getByRole('button', { name: 'Check the source' }).click()
      await page.getByText('The repository has values/live.yaml.').waitFor()
      assert.equal(requests.length, 4)
    } finally {
      await git.remove()
    }
  })

  it('suggests nothing, and says nothing, while a registry does not answer', async () => {
    outside.close()
    await ours.open(`/environments/${environmentId}/new/container`)
    await page.getByLabel('Registry').selectOption('outside')
    await page.getByLabel('Image').fill('team/new')
    await page.getByLabel('Tag').focus()
    assert.equal(await page.getByRole('alert').count(), 0)
    assert.deepEqual(ours.objections, [])
  })
})
