import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { usualSocket, viewEngine } from '../support/engine-view.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'
import { until } from '../support/until.ts'

// Runs of a stack that are cancelled, killed or lost. The state that they wrote is kept, and no run
// begins twice.

const image = await provideRunnerImage('terraform')
const skip = image === undefined && 'this machine has no terraform'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
let count = 0
const stacks: TestStack[] = []

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_TERRAFORM_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-ends')
})
after(async () => {
  await Promise.all(stacks.map(({ git }) => git.remove()))
  await server?.close()
})

/** The first resource is created at once, and the second one after some seconds. */
const slowApply = (seconds: number) => ({
  'main.tf': `
resource "terraform_data" "first" { input = 1 }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "sleep ${seconds}" }
}
`,
})
const newStack = async () => {
  const stack = await makeStack(server, { environmentId, name: `stack-${++count}`, version })
  stacks.push(stack)
  return stack
}
const running = async ({ id }: TestStack, phase: string): Promise<string> =>
  until(`the ${phase} of stack ${id} runs`, async () => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`quayside.service=${id}`] }))
    const found = await viewEngine(usualSocket).ask('GET', `/containers/json?filters=${filters}`)
    const all: { Id: string; Names: string[] }[] = Array.isArray(found) ? found : []
    return all.find(({ Names }) => Names.some((name) => name.endsWith(`-${phase}`)))?.Id
  })
const addresses = async ({ id }: TestStack): Promise<string[]> => {
  const { results } = await server.must<{ results: { address: string }[] }>(
    'GET',
    `/terraform/${id}/terraformResources`,
  )
  return results.map(({ address }) => address)
}
const runs = ({ id }: TestStack) =>
  server.sql<{ action: string; status: string }[]>`
    select action, status from stack_run where service_id = ${id} order by created_at`
/** The terms of the last deployment in the history and in the status. */
const lastTerms = async ({ id }: TestStack): Promise<(string | undefined)[]> => {
  const history = `/environment/${environmentId}/deploymentHistoryV2`
  const { results } = await server.must<{ results: { trigger_action: string }[] }>('GET', history)
  const { terraforms } = await server.must<{
    terraforms: { id: string; status_details: { sub_action: string } }[]
  }>('GET', `/environment/${environmentId}/statuses`)
  return [results[0]?.trigger_action, terraforms.find((one) => one.id === id)?.status_details.sub_action]
}
/** The last audit events of a stack, oldest first. */
const events = async ({ id }: TestStack, count: number): Promise<string[]> => {
  const rows = await server.sql<{ event_type: string }[]>`
    select event_type from audit_event where target_id = ${id} order by created_at desc, id desc limit ${count}`
  return rows.map(({ event_type }) => event_type).toReversed()
}
const startApply = async (seconds: number): Promise<TestStack> => {
  const stack = await newStack()
  await stack.git.push(slowApply(seconds))
  await stack.deploy()
  await running(stack, 'apply')
  return stack
}

test('a server that is killed in an apply joins it again, and it runs once', { skip }, async () => {
  const stack = await startApply(5)
  await server.kill9()
  await server.restart({ env: { QUAYSIDE_TERRAFORM_IMAGE: image ?? '' } })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await addresses(stack), ['terraform_data.first', 'terraform_data.slow'])
  assert.deepEqual([...(await runs(stack))], [{ action: 'APPLY', status: 'SUCCESS' }])
})

for (const point of ['task.created', 'task.started', 'task.ended', 'stack.ran']) {
  test(`a server that is killed at ${point} of a plan continues with it, and applies once`, { skip }, async () => {
    const env = { QUAYSIDE_TERRAFORM_IMAGE: image ?? '' }
    await server.restart({ env, failpoint: `${point}:kill` })
    const stack = await newStack()
    await stack.git.push(slowApply(0))
    await stack.deploy()
    await server.exited()
    await server.restart({ env })
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await addresses(stack), ['terraform_data.first', 'terraform_data.slow'])
    const states = await server.sql`select number from stack_state where service_id = ${stack.id}`
    assert.equal(states.length, 1)
  })
}

test('a cancelled apply ends in order, and the resources that it created are in the kept state', { skip }, async () => {
  const stack = await startApply(8)
  await until('the first resource is there', async () => {
    const seen = await viewEngine(usualSocket).ask('GET', `/containers/${await running(stack, 'apply')}/top`)
    return JSON.stringify(seen).includes('sleep 8')
  })
  await server.must('POST', `/environment/${environmentId}/cancelDeployment`)
  assert.equal((await stack.settles()).state, 'CANCELED')
  const kept = await addresses(stack)
  assert.ok(kept.includes('terraform_data.first'), kept.join())
  const states = await server.sql`select number from stack_state where service_id = ${stack.id}`
  assert.equal(states.length, 1)
  assert.deepEqual([...(await runs(stack))], [{ action: 'APPLY', status: 'CANCELED' }])
})

test('an apply whose container is removed leaves the stack locked until it is unlocked', { skip }, async () => {
  const stack = await startApply(30)
  await viewEngine(usualSocket).ask('DELETE', `/containers/${await running(stack, 'apply')}?force=true`)
  const lost = await stack.settles()
  assert.equal(lost.state, 'DEPLOYMENT_ERROR')
  assert.deepEqual([...(await runs(stack))], [{ action: 'APPLY', status: 'LOST' }])
  const locked = await stack.run(slowApply(0))
  assert.equal(locked.state, 'DEPLOYMENT_ERROR')
  assert.match(locked.reason ?? '', /^The stack is locked: .* FORCE_UNLOCK\.$/)
  await stack.deploy({ action: 'FORCE_UNLOCK' })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await lastTerms(stack), ['TERRAFORM_FORCE_UNLOCK', 'TERRAFORM_FORCE_UNLOCK_STATE'])
  assert.deepEqual(await events(stack, 2), ['TRIGGER_TERRAFORM_FORCE_UNLOCK', 'TERRAFORM_FORCE_UNLOCK_SUCCEEDED'])
  assert.deepEqual(await stack.run(slowApply(0)), { state: 'DEPLOYED', reason: null })
})

test('a deployment with the action PLAN applies nothing', { skip }, async () => {
  const stack = await newStack()
  await stack.git.push(slowApply(0))
  await stack.deploy({ action: 'PLAN' })
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await addresses(stack), [])
  assert.deepEqual([...(await runs(stack))], [{ action: 'PLAN', status: 'SUCCESS' }])
  assert.match((await stack.log()).join('\n'), /\+ create terraform_data\.first/)
  assert.deepEqual(await lastTerms(stack), ['DEPLOY_DRY_RUN', 'TERRAFORM_PLAN_ONLY'])
  assert.deepEqual(await events(stack, 2), ['TRIGGER_DEPLOY_DRY_RUN', 'DEPLOYED_DRY_RUN'])
})

test('a deletion with SKIP_DESTROY runs nothing', { skip }, async () => {
  const stack = await newStack()
  assert.equal((await stack.run(slowApply(0))).state, 'DEPLOYED')
  await server.must('DELETE', `/terraform/${stack.id}?force_terraform_action=SKIP_DESTROY`)
  assert.equal((await stack.settles()).state, 'GONE')
})
