import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type Lab, makeLab } from '../support/lab.ts'
import { provideLabImage } from '../support/lab-provider/build.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, type TestStack } from '../support/stack.ts'
import { until } from '../support/until.ts'

// A state that moves between the platform and a backend of the files, which is a web server of the
// environment. No move loses a resource, and no run begins with the state of another backend.

const image = await provideLabImage('opentofu')
const skip = image === undefined && 'this machine has no tofu or no Go'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
let lab: Lab
let stack: TestStack

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-backends')
  lab = await makeLab(server, environmentId)
  stack = await makeStack(server, { environmentId, name: 'moving', version, settings: { engine: 'OPEN_TOFU' } })
})
after(async () => {
  await Promise.all([stack?.git.remove(), lab?.application.git.remove()])
  await server?.close()
})

const tree = ({ text, state = 'state' }: { readonly text: string; readonly state?: string }) => ({
  'main.tf': `
terraform {
  backend "http" { address = "${lab.inside(state)}" }
}
resource "terraform_data" "one" { input = "${text}" }
`,
})
const useBackend = (name: 'kubernetes' | 'user_provided') =>
  server.must('PUT', `/terraform/${stack.id}`, { backend: { [name]: {} } })
const migrate = async () => {
  await stack.deploy({ action: 'MIGRATE_STATE' })
  return stack.settles()
}
interface StateFile {
  readonly serial: number
  readonly lineage: string
  readonly resources: { readonly instances: { readonly attributes: { readonly id: string } }[] }[]
}
const there = async (name = 'state'): Promise<StateFile> => JSON.parse((await lab.read(name)) ?? 'null')
const idOf = (state: StateFile): string | undefined => state.resources[0]?.instances[0]?.attributes.id
const versions = () =>
  server.sql<{ number: number; lineage: string; serial: number }[]>`
    select number, lineage, serial::float8 as serial from stack_state where service_id = ${stack.id} order by number`
const lastPlan = async () => {
  const { results } = await server.must<{ results: { action: string; counts: Record<string, number> | null }[] }>(
    'GET',
    `/terraform/${stack.id}/run`,
  )
  return results[0]
}
let resourceId: string | undefined

test('a state moves from the platform to the backend of the files', { skip }, async () => {
  assert.deepEqual(await stack.run(tree({ text: 'one' })), { state: 'DEPLOYED', reason: null })
  assert.equal(await lab.read('state'), undefined)
  const [kept] = await versions()
  await useBackend('user_provided')
  assert.deepEqual(await migrate(), { state: 'DEPLOYED', reason: null })
  const moved = await there()
  assert.ok(kept)
  resourceId = idOf(moved)
  assert.ok(resourceId)
  assert.equal((await versions()).length, 1)
  const { results } = await server.must<{ results: { trigger_action: string }[] }>(
    'GET',
    `/environment/${environmentId}/deploymentHistoryV2`,
  )
  assert.equal(results[0]?.trigger_action, 'TERRAFORM_MIGRATE_STATE')
})

test('runs after the move use the state there, and the platform keeps no version of it', { skip }, async () => {
  const before = (await there()).serial
  assert.deepEqual(await stack.run(tree({ text: 'two' })), { state: 'DEPLOYED', reason: null })
  assert.equal((await lastPlan())?.counts?.['update'], 1)
  const after = await there()
  assert.deepEqual([idOf(after), after.serial > before], [resourceId, true])
  assert.equal((await versions()).length, 1)
})

test('a version is not restored while the state is elsewhere', { skip }, async () => {
  const { results } = await server.must<{ results: { id: string }[] }>('GET', `/terraform/${stack.id}/state`)
  const reply = await server.api('POST', `/terraform/${stack.id}/state/${results[0]?.id}/restore`)
  assert.equal(reply.status, 409)
})

test('a run with another backend than that of the state does not begin', { skip }, async () => {
  await useBackend('kubernetes')
  const { state, reason } = await stack.run(tree({ text: 'three' }))
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason ?? '', /The state of the stack is in the backend of its files .* MIGRATE_STATE first/)
})

test('a state moves from the backend of the files to the platform', { skip }, async () => {
  assert.deepEqual(await migrate(), { state: 'DEPLOYED', reason: null })
  assert.equal((await versions()).at(-1)?.number, 2)
  assert.equal(idOf(await there()), resourceId)
  assert.deepEqual(await stack.run(tree({ text: 'three' })), { state: 'DEPLOYED', reason: null })
  assert.deepEqual((await lastPlan())?.counts?.['update'], 1)
  assert.deepEqual((await lastPlan())?.counts?.['create'], 0)
})

test('a state that is where the settings say is not moved', { skip }, async () => {
  const { state, reason } = await migrate()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason ?? '', /kept by the platform .* already/)
})

test('a backend with another state is not overwritten', { skip }, async () => {
  const other = ((await lab.read('state')) ?? '').replace('"one"', '"other"')
  await lab.write('occupied', other)
  await useBackend('user_provided')
  await stack.git.push(tree({ text: 'three', state: 'occupied' }))
  const { state, reason } = await migrate()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason ?? '', /The backend of the files has another state already/)
  assert.equal(await lab.read('occupied'), other)
})

test('a state is not moved to files without a backend', { skip }, async () => {
  await stack.git.push({ 'main.tf': 'resource "terraform_data" "one" { input = "three" }\n' })
  const { state, reason } = await migrate()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason ?? '', /The files have no backend/)
})

test('a backend that refuses the state leaves it with the platform', { skip }, async () => {
  await stack.git.push(tree({ text: 'three', state: 'refused' }))
  await lab.refuse('POST', true)
  const before = await versions()
  const { state } = await migrate()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.deepEqual([...(await versions())], [...before])
  await lab.refuse('POST', false)
  await useBackend('kubernetes')
  assert.deepEqual(await stack.run(tree({ text: 'three' })), { state: 'DEPLOYED', reason: null })
  assert.equal((await lastPlan())?.counts?.['create'], 0)
})

const migrating = (phase: string) =>
  until(`the move has its ${phase}`, async () => {
    const [row] = await server.sql`
      select r.id from stack_run r join workflow_step p on p.workflow_id = r.request_id
      where r.service_id = ${stack.id} and r.action = 'MIGRATE_STATE' and r.status = 'RUNNING'
        and p.name = ${`${stack.id}/PREPARE-MIGRATE`} and p.finished_at is not null`
    return row
  })

test('a move that is cancelled leaves the state where it was', { skip }, async () => {
  await useBackend('user_provided')
  await stack.git.push(tree({ text: 'three', state: 'later' }))
  await lab.hold(true)
  await stack.deploy({ action: 'MIGRATE_STATE' })
  await migrating('container')
  await server.must('POST', `/environment/${environmentId}/cancelDeployment`)
  await lab.hold(false)
  assert.equal((await stack.settles()).state, 'CANCELED')
  assert.equal(await lab.read('later'), undefined)
  await useBackend('kubernetes')
  assert.deepEqual(await stack.run(tree({ text: 'three' })), { state: 'DEPLOYED', reason: null })
  assert.equal((await lastPlan())?.counts?.['create'], 0)
})

test('a server that is killed during a move continues with it', { skip }, async () => {
  await useBackend('user_provided')
  await stack.git.push(tree({ text: 'three', state: 'killed' }))
  await lab.hold(true)
  await stack.deploy({ action: 'MIGRATE_STATE' })
  await migrating('container')
  await server.kill9()
  await server.restart({ env: { QUAYSIDE_OPENTOFU_IMAGE: image ?? '' } })
  await lab.hold(false)
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.equal(idOf(await there('killed')), resourceId)
  await stack.deploy()
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.equal((await lastPlan())?.counts?.['create'], 0)
})

test('resources_only destroys the resources and keeps the record', { skip }, async () => {
  const contradictory = `/terraform/${stack.id}?resources_only=true&force_terraform_action=SKIP_DESTROY`
  assert.equal((await server.api('DELETE', contradictory)).status, 400)
  await server.must('DELETE', `/terraform/${stack.id}?resources_only=true`)
  assert.deepEqual(await stack.settles(), { state: 'DELETED', reason: null })
  const { results } = await server.must<{ results: object[] }>('GET', `/terraform/${stack.id}/terraformResources`)
  assert.deepEqual(results, [])
  const history = `/environment/${environmentId}/deploymentHistoryV2`
  const [last] = (await server.must<{ results: { trigger_action: string }[] }>('GET', history)).results
  assert.equal(last?.trigger_action, 'DELETE_RESOURCES_ONLY')
  const events = await server.sql<{ event_type: string }[]>`
    select event_type from audit_event where target_id = ${stack.id} order by created_at desc, id desc limit 2`
  assert.deepEqual(events.map(({ event_type }) => event_type).toReversed(), ['TRIGGER_UNINSTALL', 'UNINSTALLED'])
  assert.deepEqual(await stack.run(tree({ text: 'again' })), { state: 'DEPLOYED', reason: null })
})
