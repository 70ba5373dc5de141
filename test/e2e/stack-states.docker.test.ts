import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'
import { until } from '../support/until.ts'

// Versions of the state of a stack on a real engine: listed without their content, and restored.

const image = await provideRunnerImage('opentofu')
const skip = image === undefined && 'this machine has no tofu'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
let stack: TestStack

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-states')
  stack = await makeStack(server, { environmentId, name: 'states', version, settings: { engine: 'OPEN_TOFU' } })
})
after(async () => {
  await stack?.git.remove()
  await server?.close()
})

interface State {
  readonly id: string
  readonly number: number
  readonly serial: number
  readonly lineage: string
  readonly size_in_bytes: number
  readonly execution_id: string | null
  readonly restored_from: number | null
  readonly is_current: boolean
}
const states = async (): Promise<State[]> =>
  (await server.must<{ results: State[] }>('GET', `/terraform/${stack.id}/state`)).results
const restore = (state: State | undefined) =>
  server.api<State>('POST', `/terraform/${stack.id}/state/${state?.id}/restore`)
const tree = (...names: string[]) => ({
  'main.tf': names.map((name) => `resource "terraform_data" "${name}" { input = "canary-content" }\n`).join(''),
})

test('each change of a state is a version with its serial and deployment, without its content', { skip }, async () => {
  assert.deepEqual(await stack.run(tree('one')), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await stack.run(tree('one', 'two')), { state: 'DEPLOYED', reason: null })
  const all = await states()
  assert.deepEqual(
    all.map(({ number, is_current, restored_from }) => [number, is_current, restored_from]),
    [
      [2, true, null],
      [1, false, null],
    ],
  )
  const [newest, oldest] = all
  assert.ok(newest && oldest && newest.serial > oldest.serial && newest.size_in_bytes > oldest.size_in_bytes)
  assert.equal(newest.lineage, oldest.lineage)
  assert.match(newest.execution_id ?? '', new RegExp(`^${environmentId}-\\d+$`))
  assert.doesNotMatch(JSON.stringify(all), /canary-content|terraform_data/)
})

test('a restored version is the newest one, and the next run uses it', { skip }, async () => {
  const [newest, oldest] = await states()
  const { status, body: json } = await restore(oldest)
  assert.equal(status, 200)
  assert.deepEqual([json.number, json.restored_from, json.is_current], [3, 1, true])
  assert.equal(json.serial, (newest?.serial ?? 0) + 1)
  assert.deepEqual(await stack.run(tree('one', 'two')), { state: 'DEPLOYED', reason: null })
  const log = (await stack.log()).join('\n')
  assert.match(log, /\+ create terraform_data\.two/)
  assert.doesNotMatch(log, /terraform_data\.one/)
  const [after] = await states()
  assert.deepEqual([after?.number, (after?.serial ?? 0) > json.serial], [4, true])
  const runs = await server.must<{ results: { action: string }[] }>('GET', `/terraform/${stack.id}/run`)
  assert.deepEqual(
    runs.results.map(({ action }) => action),
    ['APPLY', 'RESTORE_STATE', 'APPLY', 'APPLY'],
  )
  const [event] = await server.sql<{ event_type: string }[]>`
    select event_type from audit_event where target_id = ${stack.id} and event_type = 'MAINTENANCE'`
  assert.ok(event)
})

test('the newest version and one of another stack are not restored', { skip }, async () => {
  const [newest] = await states()
  assert.equal((await restore(newest)).status, 409)
  const other = await makeStack(server, { environmentId, name: 'other', version, settings: { engine: 'OPEN_TOFU' } })
  try {
    const reply = await server.api('POST', `/terraform/${other.id}/state/${newest?.id}/restore`)
    assert.equal(reply.status, 404)
  } finally {
    await other.git.remove()
  }
})

test('no version is restored while a run holds the lock', { skip }, async () => {
  const [, earlier] = await states()
  await stack.git.push({
    'main.tf': `${tree('one')['main.tf']}
resource "terraform_data" "slow" {
  provisioner "local-exec" { command = "sleep 6" }
}
`,
  })
  await stack.deploy()
  await until('the run has begun', async () => {
    const [run] = await server.sql`select id from stack_run where service_id = ${stack.id} and status = 'RUNNING'`
    return run
  })
  const refused = await restore(earlier)
  assert.equal(refused.status, 409)
  assert.match(JSON.stringify(refused.body), /The stack is locked by its run/)
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.equal((await restore(earlier)).status, 200)
})
