import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'

// The choices at the end of a stack and of a chart. The resource of the stack refuses to be
// destroyed, so a deletion that destroys fails. The tests build on each other.

const image = noBrowser === undefined ? await provideRunnerImage('opentofu') : undefined
const skip = noBrowser ?? (image === undefined && 'this machine has no tofu')
const lasting = {
  'main.tf': `
resource "terraform_data" "lasting" {
  provisioner "local-exec" {
    when    = destroy
    command = "exit 1"
  }
}
`,
}

describe('endings of services in the console', { skip }, () => {
  let ours: TestConsole
  let stack: TestStack
  let environmentId = ''

  before(async () => {
    ours = await openConsole({ QUAYSIDE_OPENTOFU_IMAGE: image ?? '' })
    environmentId = await makeEnvironment(ours.server, 'endings')
    stack = await makeStack(ours.server, {
      environmentId,
      name: 'lasting',
      version: image?.split(':').at(-1) ?? '',
      settings: { engine: 'OPEN_TOFU' },
    })
    assert.deepEqual(await stack.run(lasting), { state: 'DEPLOYED', reason: null })
  })
  after(async () => {
    await stack?.git.remove()
    await ours?.close()
  })

  const button = (name: string) => ours.page.getByRole('button', { name, exact: true })
  const dialog = () => ours.page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const losses = () => dialog().getByRole('listitem').allTextContents()
  const record = 'the terraform stack with its settings and variables'

  it('says what each way to delete a stack loses, and destroys only its resources if asked', async () => {
    await ours.open(`/environments/${environmentId}/terraform/${stack.id}/settings`)
    await button('Delete the terraform stack').click()
    assert.deepEqual(await losses(), ['the resources that the stack lasting has made', record])
    await dialog().getByLabel('It deletes').selectOption('its resources; the stack stays')
    await dialog().getByText('Its settings and variables stay.').waitFor()
    assert.deepEqual(await losses(), ['the resources that the stack lasting has made'])
    assert.deepEqual(await violations(ours.page), [])
    await dialog().getByLabel('to confirm').fill('lasting')
    await confirm('Delete the terraform stack')
    await dialog().waitFor({ state: 'detached' })
    const end = await stack.settles()
    assert.equal(end.state, 'DELETE_ERROR')
  })

  it('deletes a stack and leaves its resources', async () => {
    await button('Delete the terraform stack').click()
    await dialog().getByLabel('It deletes').selectOption('the stack; its resources stay')
    await dialog().getByText('Every resource that it has made stays').waitFor()
    assert.deepEqual(await losses(), [
      'the state of the stack lasting, by which its resources could be changed',
      record,
    ])
    await dialog().getByLabel('to confirm').fill('lasting')
    await confirm('Delete the terraform stack')
    await ours.page.getByRole('heading', { name: 'endings' }).waitFor()
    assert.equal((await stack.settles()).state, 'GONE')
  })

  it('asks whether the volumes of a chart stay, and sends the answer', async () => {
    const { page } = ours
    const { id } = await ours.server.must<{ id: string }>('POST', `/environment/${environmentId}/helm`, {
      name: 'store',
      source: { git_repository: { url: stack.git.url, branch: 'main' } },
      ...{ arguments: [], allow_cluster_wide_resources: false, values_override: {} },
    })
    await ours.open(`/environments/${environmentId}/helm/${id}/settings`)
    await button('Uninstall the helm chart …').click()
    assert.deepEqual(await losses(), ['the volumes of the chart store with their data'])
    await dialog().getByLabel('It erases').selectOption('the installed chart; its volumes stay')
    assert.deepEqual(await losses(), [])
    assert.deepEqual(await violations(page), [])
    const uninstalled = page.waitForRequest((request) => request.url().includes(`/helm/${id}/uninstall`))
    await confirm('Uninstall')
    assert.match((await uninstalled).url(), /\?keep_volumes=true$/)
    await ours.open(`/environments/${environmentId}/helm/${id}/settings`)
    await button('Delete the helm chart').click()
    await dialog().getByLabel('It deletes').selectOption('the chart; its volumes stay on the cluster')
    await dialog().getByText('Remove them with kubectl').waitFor()
    await dialog().getByLabel('to confirm').fill('store')
    const deleted = page.waitForRequest((request) => request.method() === 'DELETE')
    await confirm('Delete the helm chart')
    assert.match((await deleted).url(), /\?keep_volumes=true$/)
    await page.getByRole('heading', { name: 'endings' }).waitFor()
    assert.deepEqual(ours.objections, [])
  })
})
