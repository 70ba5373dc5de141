import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { makeEnvironment } from '../support/application.ts'
import { noBrowser, violations } from '../support/chromium.ts'
import { openConsole, type TestConsole } from '../support/console.ts'
import { usualSocket, viewEngine } from '../support/engine-view.ts'
import { gone } from '../support/gone.ts'
import { type Lab, makeLab } from '../support/lab.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'
import { slowApply } from '../support/stack-bench.ts'
import { stackContainer } from '../support/stack-place.ts'

// A stack on a real engine: its plan, its state and its drift in the console. The tests build on
// each other.

const image = noBrowser === undefined ? await provideRunnerImage('opentofu') : undefined
const skip = noBrowser ?? (image === undefined && 'this machine has no tofu')
const env = { QUAYSIDE_OPENTOFU_IMAGE: image ?? '' }
const secret = 'canary-console-secret'

const tree = (text: string) => ({
  'main.tf': `
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "one" { input = "${text}" }
resource "terraform_data" "hidden" { input = var.password }
output "text" { value = terraform_data.one.output }
`,
})

describe('stacks in the console', { skip }, () => {
  let ours: TestConsole
  let page: Page
  let stack: TestStack
  let environmentId = ''
  const labs: Lab[] = []

  before(async () => {
    ours = await openConsole(env)
    ;({ page } = ours)
    environmentId = await makeEnvironment(ours.server, 'stacks')
    stack = await makeStack(ours.server, {
      environmentId,
      name: 'planned',
      version: image?.split(':').at(-1) ?? '',
      settings: {
        engine: 'OPEN_TOFU',
        terraform_variables_source: {
          tf_var_file_paths: [],
          tf_vars: [{ key: 'password', value: secret, secret: true }],
        },
      },
    })
    await stack.git.push(tree('first'))
    await ours.open(`/environments/${environmentId}/terraform/${stack.id}`)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Stack' }).click()
  })
  after(async () => {
    await stack?.git.remove()
    for (const { application } of labs) await application.git.remove()
    await ours?.close()
  })

  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const confirm = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
  const table = (name: string) => page.getByRole('region', { name, exact: true })

  it('makes a plan, and shows it resource by resource with masked values', async () => {
    await page.getByText('It has not run yet.').waitFor()
    assert.equal(await button('Force unlock …').getAttribute('title'), 'no run has left a lock')
    assert.deepEqual(await violations(page), [])
    await button('Make a plan …').click()
    await confirm('Make a plan')
    await page.getByRole('heading', { name: 'Plan that is not applied' }).waitFor({ timeout: 120_000 })
    await page.getByText('terraform_data.hidden').click()
    await table('Changes of terraform_data.hidden').getByText('sensitive').first().waitFor()
    await page.getByText('terraform_data.one').click()
    await table('Changes of terraform_data.one').getByText('"first"').waitFor()
    assert.ok(!(await page.content()).includes(secret))
    assert.deepEqual(await violations(page), [])
  })

  it('applies the plan, and shows the resources, outputs and the version of the state', async () => {
    await button('Apply this plan').click()
    await table('Runs').getByText('apply').waitFor({ timeout: 120_000 })
    await gone(page.getByRole('heading', { name: 'Plan that is not applied' }))
    await table('Outputs').getByText('first').waitFor({ timeout: 60_000 })
    await table('Versions of the state').getByText('1 (current)').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'terraform_data.one' }).getByText('managed').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('shows the plan of an earlier run, and restores an earlier version of the state', async () => {
    assert.deepEqual(await stack.run(tree('second')), { state: 'DEPLOYED', reason: null })
    await button('1 to update').click()
    await dialog().getByText('terraform_data.one').click()
    await dialog().getByText('"second"').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Close')
    await table('Versions of the state').getByText('2 (current)').waitFor()
    const current = button('Restore version 2 of the state')
    assert.equal(await current.getAttribute('title'), 'the next run uses it already')
    await button('Restore version 1 of the state').click()
    await confirm('Restore')
    await table('Versions of the state').getByText('3 (current) restored from 1').waitFor()
  })

  it('shows the message of the API about a wrong timetable of checks, and says a good one in words', async () => {
    await page.getByText('It is not checked for changes from outside.').waitFor()
    await button('Change the timetable of checks').click()
    await dialog().getByLabel('Timetable').fill('often')
    await confirm('Save')
    await dialog().getByRole('alert').filter({ hasText: 'cron_at' }).waitFor()
    await dialog().getByLabel('Timetable').fill('0 4 * * *')
    await dialog().getByLabel('Time zone').fill('Europe/Paris')
    await dialog().getByText('Every day at 04:00').waitFor()
    assert.deepEqual(await violations(page), [])
    await confirm('Save')
    await page.getByText('Every day at 04:00, Europe/Paris. Next:').waitFor()
    await page.setViewportSize({ width: 380, height: 700 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 380)
    assert.deepEqual(await violations(page), [])
    await page.setViewportSize({ width: 1200, height: 900 })
  })

  it('checks for drift at once, and finds the version of the state that was restored', async () => {
    await button('Check now').click()
    await page.getByText('Last check:').getByText('success').waitFor({ timeout: 120_000 })
    await page.getByText('Something differs from the stack').waitFor()
    assert.deepEqual(await violations(page), [])
  })

  it('forces the lock of a lost run open, and says before that the stack is locked', async () => {
    await stack.git.push({ 'main.tf': `${tree('third')['main.tf']}${slowApply(60)['main.tf']}` })
    await stack.deploy()
    const container = await stackContainer(stack, 'apply')
    await ours.server.kill9()
    await viewEngine(usualSocket).ask('DELETE', `/containers/${container}?force=true`)
    await ours.server.restart({ env })
    assert.equal((await stack.settles()).state, 'DEPLOYMENT_ERROR')
    await page.getByText('The last run was lost, so the stack is locked.').waitFor({ timeout: 30_000 })
    assert.deepEqual(await violations(page), [])
    await button('Force unlock …').click()
    await confirm('Force unlock')
    await gone(page.getByText('The last run was lost, so the stack is locked.'))
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.equal(await button('Force unlock …').getAttribute('title'), 'no run has left a lock')
  })

  it('moves the state to the backend of the files once the settings name it', async () => {
    const lab = await makeLab(ours.server, environmentId)
    labs.push(lab)
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('Place of the state').selectOption('the backend that the files name')
    assert.deepEqual(await violations(page), [])
    await button('Save').click()
    await page.getByText('Everything is saved.').waitFor()
    const backend = `terraform {\n  backend "http" { address = "${lab.inside('state')}" }\n}\n`
    await stack.git.push({ 'main.tf': `${backend}${tree('second')['main.tf']}` })
    await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Stack' }).click()
    await button('Move the state …').click()
    assert.deepEqual(await violations(page), [])
    await confirm('Move the state')
    await dialog().waitFor({ state: 'detached' })
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.match((await lab.read('state')) ?? '', /terraform_data/)
    assert.deepEqual(ours.objections, [])
  })
})
