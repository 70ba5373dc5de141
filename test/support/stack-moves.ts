import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type LabBench, labSuite } from './lab-suite.ts'
import type { ServerProcess } from './server-process.ts'
import type { OpenStackPlace } from './stack-place.ts'
import { until } from './until.ts'

/**
 * A state that moves between the platform and a backend of the files, which is a web server of the
 * environment, wherever the place runs them. No move loses a resource, and no run begins with the
 * state of another backend.
 */
export const stackMoves = (name: string, open: OpenStackPlace): Promise<void> =>
  labSuite({ name, folder: 'stack-backends', open }, stackMovesCases)

interface StateFile {
  readonly serial: number
  readonly lineage: string
  readonly resources: { readonly instances: { readonly attributes: { readonly id: string } }[] }[]
}

function stackMovesCases(get: () => LabBench): void {
  const server = (): ServerProcess => get().place.server
  const tree = ({ text, state = 'state' }: { readonly text: string; readonly state?: string }) => ({
    'main.tf': `
terraform {
  backend "http" { address = "${get().lab.inside(state)}" }
}
resource "terraform_data" "one" { input = "${text}" }
`,
  })
  const useBackend = (name: 'kubernetes' | 'user_provided') =>
    server().must('PUT', `/terraform/${get().stack.id}`, { backend: { [name]: {} } })
  const migrate = async () => {
    await get().stack.deploy({ action: 'MIGRATE_STATE' })
    return get().stack.settles()
  }
  const there = async (name = 'state'): Promise<StateFile> => JSON.parse((await get().lab.read(name)) ?? 'null')
  const idOf = (state: StateFile): string | undefined => state.resources[0]?.instances[0]?.attributes.id
  const versions = () =>
    server().sql<{ number: number; lineage: string; serial: number }[]>`
      select number, lineage, serial::float8 as serial from stack_state
      where service_id = ${get().stack.id} order by number`
  const lastPlan = async () => {
    const { results } = await server().must<{ results: { action: string; counts: Record<string, number> | null }[] }>(
      'GET',
      `/terraform/${get().stack.id}/run`,
    )
    return results[0]
  }
  let resourceId: string | undefined

  it('a state moves from the platform to the backend of the files', async () => {
    assert.deepEqual(await get().stack.run(tree({ text: 'one' })), { state: 'DEPLOYED', reason: null })
    assert.equal(await get().lab.read('state'), undefined)
    const [kept] = await versions()
    await useBackend('user_provided')
    assert.deepEqual(await migrate(), { state: 'DEPLOYED', reason: null })
    const moved = await there()
    assert.ok(kept)
    resourceId = idOf(moved)
    assert.ok(resourceId)
    assert.equal((await versions()).length, 1)
    const { results } = await server().must<{ results: { trigger_action: string }[] }>(
      'GET',
      `/environment/${get().place.environmentId}/deploymentHistoryV2`,
    )
    assert.equal(results[0]?.trigger_action, 'TERRAFORM_MIGRATE_STATE')
  })

  it('runs after the move use the state there, and the platform keeps no version of it', async () => {
    const before = (await there()).serial
    assert.deepEqual(await get().stack.run(tree({ text: 'two' })), { state: 'DEPLOYED', reason: null })
    assert.equal((await lastPlan())?.counts?.['update'], 1)
    const after = await there()
    assert.deepEqual([idOf(after), after.serial > before], [resourceId, true])
    assert.equal((await versions()).length, 1)
  })

  it('a version is not restored while the state is elsewhere', async () => {
    const { results } = await server().must<{ results: { id: string }[] }>('GET', `/terraform/${get().stack.id}/state`)
    const reply = await server().api('POST', `/terraform/${get().stack.id}/state/${results[0]?.id}/restore`)
    assert.equal(reply.status, 409)
  })

  it('a run with another backend than that of the state does not begin', async () => {
    await useBackend('kubernetes')
    const { state, reason } = await get().stack.run(tree({ text: 'three' }))
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /The state of the stack is in the backend of its files .* MIGRATE_STATE first/)
  })

  it('a state moves from the backend of the files to the platform', async () => {
    assert.deepEqual(await migrate(), { state: 'DEPLOYED', reason: null })
    assert.equal((await versions()).at(-1)?.number, 2)
    assert.equal(idOf(await there()), resourceId)
    assert.deepEqual(await get().stack.run(tree({ text: 'three' })), { state: 'DEPLOYED', reason: null })
    assert.deepEqual((await lastPlan())?.counts?.['update'], 1)
    assert.deepEqual((await lastPlan())?.counts?.['create'], 0)
  })

  it('a state that is where the settings say is not moved', async () => {
    const { state, reason } = await migrate()
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /kept by the platform .* already/)
  })

  it('a backend with another state is not overwritten', async () => {
    const other = ((await get().lab.read('state')) ?? '').replace('"one"', '"other"')
    await get().lab.write('occupied', other)
    await useBackend('user_provided')
    await get().stack.git.push(tree({ text: 'three', state: 'occupied' }))
    const { state, reason } = await migrate()
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /The backend of the files has another state already/)
    assert.equal(await get().lab.read('occupied'), other)
  })

  it('a state is not moved to files without a backend', async () => {
    await get().stack.git.push({ 'main.tf': 'resource "terraform_data" "one" { input = "three" }\n' })
    const { state, reason } = await migrate()
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /The files have no backend/)
  })

  it('a backend that refuses the state leaves it with the platform', async () => {
    await get().stack.git.push(tree({ text: 'three', state: 'refused' }))
    await get().lab.refuse('POST', true)
    const before = await versions()
    const { state } = await migrate()
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.deepEqual([...(await versions())], [...before])
    await get().lab.refuse('POST', false)
    await useBackend('kubernetes')
    assert.deepEqual(await get().stack.run(tree({ text: 'three' })), { state: 'DEPLOYED', reason: null })
    assert.equal((await lastPlan())?.counts?.['create'], 0)
  })

  const migrating = (phase: string) =>
    until(`the move has its ${phase}`, async () => {
      const [row] = await server().sql`
      select r.id from stack_run r join workflow_step p on p.workflow_id = r.request_id
      where r.service_id = ${get().stack.id} and r.action = 'MIGRATE_STATE' and r.status = 'RUNNING'
        and p.name = ${`${get().stack.id}/PREPARE-MIGRATE`} and p.finished_at is not null`
      return row
    })

  it('a move that is cancelled leaves the state where it was', async () => {
    await useBackend('user_provided')
    await get().stack.git.push(tree({ text: 'three', state: 'later' }))
    await get().lab.hold(true)
    await get().stack.deploy({ action: 'MIGRATE_STATE' })
    await migrating('container')
    await server().must('POST', `/environment/${get().place.environmentId}/cancelDeployment`)
    await get().lab.hold(false)
    assert.equal((await get().stack.settles()).state, 'CANCELED')
    assert.equal(await get().lab.read('later'), undefined)
    await useBackend('kubernetes')
    assert.deepEqual(await get().stack.run(tree({ text: 'three' })), { state: 'DEPLOYED', reason: null })
    assert.equal((await lastPlan())?.counts?.['create'], 0)
  })

  it('a server that is killed during a move continues with it', async () => {
    await useBackend('user_provided')
    await get().stack.git.push(tree({ text: 'three', state: 'killed' }))
    await get().lab.hold(true)
    await get().stack.deploy({ action: 'MIGRATE_STATE' })
    await migrating('container')
    await server().kill9()
    await server().restart({ env: get().place.env })
    await get().lab.hold(false)
    assert.deepEqual(await get().stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.equal(idOf(await there('killed')), resourceId)
    await get().stack.deploy()
    assert.deepEqual(await get().stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.equal((await lastPlan())?.counts?.['create'], 0)
  })

  it('resources_only destroys the resources and keeps the record', async () => {
    const contradictory = `/terraform/${get().stack.id}?resources_only=true&force_terraform_action=SKIP_DESTROY`
    assert.equal((await server().api('DELETE', contradictory)).status, 400)
    await server().must('DELETE', `/terraform/${get().stack.id}?resources_only=true`)
    assert.deepEqual(await get().stack.settles(), { state: 'DELETED', reason: null })
    const { results } = await server().must<{ results: object[] }>(
      'GET',
      `/terraform/${get().stack.id}/terraformResources`,
    )
    assert.deepEqual(results, [])
    const history = `/environment/${get().place.environmentId}/deploymentHistoryV2`
    const [last] = (await server().must<{ results: { trigger_action: string }[] }>('GET', history)).results
    assert.equal(last?.trigger_action, 'DELETE_RESOURCES_ONLY')
    const events = await server().sql<{ event_type: string }[]>`
    select event_type from audit_event where target_id = ${get().stack.id} order by created_at desc, id desc limit 2`
    assert.deepEqual(events.map(({ event_type }) => event_type).toReversed(), ['TRIGGER_UNINSTALL', 'UNINSTALLED'])
    assert.deepEqual(await get().stack.run(tree({ text: 'again' })), { state: 'DEPLOYED', reason: null })
  })
}
