import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'

// Plans of stacks on a real engine, as the API lists them for each run and in a dry run.

const image = await provideRunnerImage('opentofu')
const skip = image === undefined && 'this machine has no tofu'
const version = image?.split(':').at(-1) ?? ''
const secret = 'canary-plan-secret'

let server: ServerProcess
let environmentId: string
let stack: TestStack

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-plans')
  const tf_vars = [{ key: 'password', value: secret, secret: true }]
  const settings = { engine: 'OPEN_TOFU', terraform_variables_source: { tf_var_file_paths: [], tf_vars } }
  stack = await makeStack(server, { environmentId, name: 'planned', version, settings })
})
after(async () => {
  await stack?.git.remove()
  await server?.close()
})

interface Run {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly execution_id: string
  readonly counts: Record<string, number> | null
}
interface Plan {
  readonly resources: { address: string; action: string; changes: Record<string, unknown>[] }[]
  readonly outputs: string[]
  readonly has_changes: boolean
}
interface DryRun {
  readonly services: { effect: string; stack_plan: ShownPlan | null }[]
}
interface ShownPlan extends Plan {
  readonly run: Run
  readonly is_current: boolean
  readonly changed_since: string[]
}
const runs = async (): Promise<Run[]> =>
  (await server.must<{ results: Run[] }>('GET', `/terraform/${stack.id}/run`)).results
const planOf = (run: Run | undefined) => server.must<Plan>('GET', `/terraform/${stack.id}/run/${run?.id}/plan`)
const dryRun = async () => {
  const { services } = await server.must<DryRun>('POST', `/environment/${environmentId}/deploy?dry_run=true`)
  return services[0]
}

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

test('the plan of a PLAN is listed by its run and shown by a dry run, without sensitive values', { skip }, async () => {
  assert.equal((await dryRun())?.stack_plan, null)
  await stack.git.push(tree('first'))
  await stack.deploy({ action: 'PLAN' })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  const [run, ...others] = await runs()
  assert.deepEqual([run?.action, run?.status, others.length], ['PLAN', 'SUCCESS', 0])
  assert.deepEqual(run?.counts, { create: 2, update: 0, replace: 0, delete: 0, read: 0, forget: 0 })
  assert.match(run?.execution_id ?? '', new RegExp(`^${environmentId}-\\d+$`))
  const plan = await planOf(run)
  assert.deepEqual(plan.outputs, ['text'])
  const later = { before: null, after: null, is_sensitive: false, is_known: false }
  const input = { name: 'input', before: null, is_known: true }
  const created = (address: string, change: object) => ({
    address,
    action: 'create',
    changes: [{ name: 'id', ...later }, change, { name: 'output', ...later }],
  })
  assert.deepEqual(
    plan.resources.map(({ address, action }) => [address, action]),
    [
      ['terraform_data.hidden', 'create'],
      ['terraform_data.one', 'create'],
    ],
  )
  assert.deepEqual(
    plan.resources[1],
    created('terraform_data.one', { ...input, after: '"first"', is_sensitive: false }),
  )
  assert.equal(plan.resources[0]?.changes.find(({ name }) => name === 'input')?.['is_sensitive'], true)
  assert.doesNotMatch(JSON.stringify(plan), /canary-plan-secret/)
  const shown = (await dryRun())?.stack_plan
  assert.deepEqual([shown?.run.id, shown?.is_current, shown?.resources], [run?.id, true, plan.resources])
})

test('a dry run runs nothing, and says what has changed since its plan', { skip }, async () => {
  const changed = async () => {
    const { is_current, changed_since } = (await dryRun())?.stack_plan ?? {}
    assert.equal(is_current, changed_since?.length === 0)
    return changed_since
  }
  await server.must('PUT', `/terraform/${stack.id}`, { timeout_sec: 300 })
  assert.deepEqual(await changed(), ['setting timeout_sec'])
  const path = `/environment/${environmentId}/environmentVariable`
  const { id } = await server.must<{ id: string }>('POST', path, { key: 'TOWN', value: 'Bremen' })
  await stack.git.push(tree('other'))
  assert.deepEqual(await changed(), ['setting timeout_sec', 'variable TOWN', 'commit'])
  await server.must('DELETE', `${path}/${id}`)
  await server.must('PUT', `/terraform/${stack.id}`, { timeout_sec: 600 })
  assert.deepEqual(await changed(), ['commit'])
  assert.equal((await runs()).length, 1)
})

test('histories list the run of each deployment with the counts of its plan', { skip }, async () => {
  const [run] = await runs()
  const expected = { id: run?.id, counts: run?.counts }
  interface Entry {
    readonly stack_run: typeof expected | null
  }
  const own = await server.must<{ results: Entry[] }>('GET', `/terraform/${stack.id}/deploymentHistoryV2`)
  assert.deepEqual(own.results[0]?.stack_run, expected)
  const whole = await server.must<{ results: { stages: { services: Entry[] }[] }[] }>(
    'GET',
    `/environment/${environmentId}/deploymentHistoryV2`,
  )
  assert.deepEqual(whole.results[0]?.stages[0]?.services[0]?.stack_run, expected)
})

test('an applied plan is in the history, and no longer in a dry run', { skip }, async () => {
  assert.deepEqual(await stack.run(tree('first')), { state: 'DEPLOYED', reason: null })
  assert.equal((await dryRun())?.stack_plan, null)
  assert.deepEqual(await stack.run(tree('second')), { state: 'DEPLOYED', reason: null })
  const [run] = await runs()
  assert.deepEqual([run?.action, run?.counts?.['update']], ['APPLY', 1])
  const { resources } = await planOf(run)
  const change = { name: 'input', before: '"first"', after: '"second"', is_sensitive: false, is_known: true }
  assert.deepEqual(resources[0]?.changes[0], change)
  assert.equal((await dryRun())?.effect, 'RESTART')
})

test('a run of another stack has no plan here', { skip }, async () => {
  const other = await makeStack(server, { environmentId, name: 'other', version, settings: { engine: 'OPEN_TOFU' } })
  try {
    const [run] = await runs()
    await assert.rejects(server.must('GET', `/terraform/${other.id}/run/${run?.id}/plan`), /404/)
  } finally {
    await other.git.remove()
  }
})
