import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'

// A plan that was shown is applied as it is, or refused if anything has changed since.

const image = await provideRunnerImage('opentofu')
const skip = image === undefined && 'this machine has no tofu'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
let stack: TestStack

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'shown-plans')
  stack = await makeStack(server, { environmentId, name: 'shown', version, settings: { engine: 'OPEN_TOFU' } })
})
after(async () => {
  await stack?.git.remove()
  await server?.close()
})

interface Run {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly counts: Record<string, number> | null
}
const runs = async (): Promise<Run[]> =>
  (await server.must<{ results: Run[] }>('GET', `/terraform/${stack.id}/run`)).results
/** The plan has a new value each time, so a second plan would apply another one. */
const tree = (name: string) => ({
  'main.tf': `
variable "town" { default = "none" }
resource "terraform_data" "${name}" { input = "\${var.town} \${plantimestamp()}" }
`,
})
const path = () => `/terraform/${stack.id}`

/** Makes a plan of this tree and returns its run. */
async function plan(name: string): Promise<Run> {
  await stack.git.push(tree(name))
  return planAgain()
}
async function planAgain(): Promise<Run> {
  await stack.deploy({ action: 'PLAN' })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  const [run] = await runs()
  assert.ok(run?.action === 'PLAN')
  return run
}
/** Returns the planned time of a resource. */
async function plannedTime({ id }: Run): Promise<string> {
  const { resources } = await server.must<{
    resources: { changes: { name: string; after: string | null }[] }[]
  }>('GET', `${path()}/run/${id}/plan`)
  return resources[0]?.changes.find(({ name }) => name === 'input')?.after ?? ''
}
const refusal = async (body: object): Promise<string> => {
  const { status, body: answer } = await server.api('POST', `${path()}/deploy`, body)
  assert.ok(status >= 400, JSON.stringify(answer))
  return `${status} ${Object(answer).message}`
}
const inputs = async (): Promise<unknown[]> => {
  const { results } = await server.must<{ results: { attributes: { input: unknown } }[] }>(
    'GET',
    `${path()}/terraformResources`,
  )
  return results.map(({ attributes }) => attributes.input)
}

test('the plan that was shown is applied, and no other one', { skip }, async () => {
  const run = await plan('one')
  await stack.deploy({ plan_run_id: run.id })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  const [applied] = await runs()
  assert.deepEqual([applied?.action, applied?.status, applied?.counts], ['APPLY', 'SUCCESS', run.counts])
  assert.equal(JSON.stringify((await inputs())[0]), await plannedTime(run))
  const log = (await stack.log()).join('\n')
  assert.match(log, /The plan: 1 to create, 0 to change, 0 to replace, 0 to destroy\./)
  assert.doesNotMatch(log, /Making a plan/)
  const { terraforms } = await server.must<{ terraforms: { service_deployment_status: string }[] }>(
    'GET',
    `/environment/${environmentId}/statuses`,
  )
  assert.equal(terraforms[0]?.service_deployment_status, 'UP_TO_DATE')
})

test('a plan is applied once, because its apply has changed the state', { skip }, async () => {
  const [applied, run] = await runs()

  const reason = await refusal({ plan_run_id: run?.id })
  assert.ok(reason.includes(`because run ${applied?.id} (APPLY) has changed the state since`), reason)
})

test('a plan is refused after settings, variables or the branch have changed', { skip }, async () => {
  const run = await plan('two')
  const reason = async () => /made: (.*)\. Deploy/.exec(await refusal({ plan_run_id: run.id }))?.[1]
  await server.must('PUT', path(), { timeout_sec: 300 })
  assert.equal(await reason(), 'setting timeout_sec')
  await server.must('PUT', path(), { timeout_sec: 600 })
  const variables = `/environment/${environmentId}/environmentVariable`
  const { id } = await server.must<{ id: string }>('POST', variables, { key: 'TF_VAR_town', value: 'Bremen' })
  assert.equal(await reason(), 'variable TF_VAR_town')
  await server.must('DELETE', `${variables}/${id}`)
  await stack.git.push(tree('three'))
  assert.equal(await reason(), 'commit')
  assert.equal((await runs())[0]?.id, run.id)
})

test('a plan is applied if its commit is named, wherever the branch is', { skip }, async () => {
  const [run] = await runs()
  const wrong = await stack.git.push(tree('four'))
  assert.match(await refusal({ plan_run_id: run?.id, git_commit_id: wrong }), /^400 git_commit_id: the plan of run/)
  const commit = / is of the commit (\w+)\./.exec(await refusal({ plan_run_id: run?.id, git_commit_id: wrong }))?.[1]
  await stack.deploy({ plan_run_id: run?.id, git_commit_id: commit })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.match((await stack.log()).join('\n'), /\+ create terraform_data\.two/)
})

test('a change while the request waits is refused when it runs', { skip }, async () => {
  const run = await plan('five')
  // The request waits behind a deployment that plans for some seconds.
  const other = await makeStack(server, { environmentId, name: 'before', version, settings: { engine: 'OPEN_TOFU' } })
  try {
    await other.deploy({ action: 'PLAN' })
    await stack.deploy({ plan_run_id: run.id })
    await stack.git.push(tree('six'))
    const { state, reason } = await stack.settles()
    assert.equal(state, 'BUILD_ERROR')
    assert.match(reason ?? '', /because this changed since it was made: commit \(branch "main" is at [0-9a-f]{12}\)\./)
    assert.equal((await runs())[0]?.id, run.id)
  } finally {
    await other.git.remove()
  }
})

test('a plan is refused once a newer one was made, and after a restored state', { skip }, async () => {
  const first = await planAgain()
  const second = await planAgain()
  assert.match(await refusal({ plan_run_id: first.id }), /^409 .* is no longer kept, because a newer plan was made\./)
  const { results } = await server.must<{ results: { id: string }[] }>('GET', `${path()}/state`)
  await server.must('POST', `${path()}/state/${results.at(-1)?.id}/restore`)
  assert.match(await refusal({ plan_run_id: second.id }), /^409 .*\(RESTORE_STATE\) has changed the state since/)
})

test('no other run has a plan to apply, and none goes with another action', { skip }, async () => {
  const all = await runs()
  const applied = all.find(({ action }) => action === 'APPLY')
  assert.match(await refusal({ plan_run_id: applied?.id }), /^404 plan_run_id/)
  assert.match(await refusal({ plan_run_id: all[0]?.id, action: 'PLAN' }), /^400 plan_run_id must be absent/)
})
