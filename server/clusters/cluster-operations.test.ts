import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createFinisher } from '../workflows/index.ts'
import { testWorkflows, until } from '../workflows/testing.ts'
import { createClusterLocks } from './cluster-locks.ts'
import { createClusterOperations } from './cluster-operations.ts'
import { type ClusterEnvironment, type ClusterFinding, createClusterWorkflow } from './cluster-workflow.ts'
import { createClusterRecords } from './clusters.ts'
import { engineNameOf } from './engine-name.ts'
import { findClusterId } from './platform-parts.ts'
import { addOrganization, owner, request, rowOf } from './testing.ts'

const { sql: database, start } = await testWorkflows({ after })
let engine: () => Promise<void> = async () => {}
const findings: readonly ClusterFinding[] = []
let environments: readonly ClusterEnvironment[] = []
let renew: (id: string) => Promise<readonly string[]> = async () => []
let stopEnvironment: (id: string) => Promise<void> = async () => {}
let removeEnvironment: (id: string) => Promise<void> = async () => {}
const done: string[] = []
const workflow = createClusterWorkflow({
  database,
  clock,
  version: '9.9.9',
  parts: {
    checkEngine: async () => {
      done.push('engine')
      await engine()
    },
    listFindings: async () => findings,
    listEnvironments: async () => environments,
    renewEnvironment: async (_, id) => {
      done.push(id)
      return renew(id)
    },
    stopEnvironment: async (id) => {
      done.push(`stop ${id}`)
      await stopEnvironment(id)
    },
    removeEnvironment: async (id) => {
      done.push(`remove ${id}`)
      await removeEnvironment(id)
    },
    eraseAll: async () => void done.push('erase'),
    renewRouter: async () => void done.push('router'),
    publishRoutes: async () => void done.push('routes'),
  },
})
const workflows = start([workflow])
const operations = createClusterOperations({ database, clock, workflows })
const clusters = createClusterRecords({ database, clock, ceilingOf: () => ({ cpu: 1, memory: 1 }) })
const locks = createClusterLocks({ database, clock })
const { organizationId, builtIn } = await addOrganization(database)
const ada = { id: 'ada', name: 'Ada' }
const row = () => rowOf(database, organizationId, builtIn)
const rests = (status: string) => until(status, async () => (await row()).status === status)
const lines = async () => (await operations.logs(organizationId, builtIn)).map(({ step }) => step)

beforeEach(async () => {
  // An operation that timed out may still be claimed, and change the status again.
  await until('no operation is in progress', async () => {
    const open = await database`select from workflow where state in ('queued', 'running') limit 1`
    return open.length === 0
  })
  done.length = 0
  environments = []
  renew = async () => []
  stopEnvironment = async () => {}
  removeEnvironment = async () => {}
  engine = async () => {}
})

test('an upgrade updates engine, router and routes, and locks the cluster meanwhile', async () => {
  const gate = Promise.withResolvers<void>()
  engine = () => gate.promise
  const asked = await operations.upgrade(await row(), 'Ada')
  assert.deepEqual([asked.status, asked.last_execution_id], ['DEPLOYMENT_QUEUED', `${builtIn}-1`])
  await rests('DEPLOYING')
  const again = { code: 'conflict', message: /is DEPLOYING/ }
  await assert.rejects(operations.upgrade(await row(), 'Bob'), again)
  await assert.rejects(operations.deploy(organizationId, builtIn, 'Bob', false), again)
  await assert.rejects(locks.lock(await row(), 'Bob', { reason: 'x' }), again)
  gate.resolve()
  await rests('DEPLOYED')
  assert.deepEqual(done, ['engine', 'router', 'routes'])
  assert.deepEqual(await lines(), ['LoadConfiguration', 'ValidateSystemRequirements', 'Create', 'Created'])
  const [record] = await clusters.list(organizationId)
  assert.deepEqual([record?.version, record?.deployment_status], ['9.9.9', 'UP_TO_DATE'])
})

test('an upgrade renews each environment in a step, and its log says what changed', async () => {
  environments = [
    { id: 'e1', name: 'shop' },
    { id: 'e2', name: 'blog' },
  ]
  renew = async (id) => (id === 'e1' ? ['Service "web": Secret x was changed: data.a.'] : [])
  await operations.upgrade(await row(), 'Ada')
  await rests('DEPLOYED')
  assert.deepEqual(done, ['engine', 'e1', 'e2', 'router', 'routes'])
  const messages = (await operations.logs(organizationId, builtIn)).map(({ message }) => message.safe_message)
  assert.ok(messages.includes('Environment "shop": Service "web": Secret x was changed: data.a.'))
})

test('an environment that cannot be renewed keeps none of the others from it, and the upgrade fails', async () => {
  environments = [
    { id: 'e1', name: 'shop' },
    { id: 'e2', name: 'blog' },
  ]
  renew = async (id) => {
    if (id === 'e1') throw new Error('its namespace is full')
    return []
  }
  await operations.upgrade(await row(), 'Ada')
  await rests('DEPLOYMENT_ERROR')
  assert.deepEqual(done, ['engine', 'e1', 'e2'])
  const last = (await operations.logs(organizationId, builtIn)).at(-1)
  assert.match(last?.message.safe_message ?? '', /environment "shop": its namespace is full.*Try again/)
  renew = async () => []
  await operations.upgrade(await row(), 'Ada')
  await rests('DEPLOYED')
})

test('a deployment uses the settings of the time when it was requested', async () => {
  await clusters.edit(organizationId, builtIn, { max_running_nodes: 2 })
  assert.equal((await clusters.list(organizationId))[0]?.deployment_status, 'OUT_OF_DATE')
  await operations.deploy(organizationId, builtIn, 'Ada', false)
  await rests('DEPLOYED')
  assert.equal((await clusters.list(organizationId))[0]?.deployment_status, 'UP_TO_DATE')
})

test('a dry run changes nothing and restores the previous status', async () => {
  const before = await row()
  await operations.deploy(organizationId, builtIn, 'Ada', true)
  await until('the dry run has ended', async () => (await row()).status === 'DEPLOYED')
  assert.deepEqual(done, ['engine'])
  assert.deepEqual((await row()).last_deployment_date, before.last_deployment_date)
})

test('an operation waits for an engine that is unreachable for a moment', async () => {
  let failures = 0
  engine = async () => {
    if (failures++ === 0) throw new Error('away')
  }
  await operations.upgrade(await row(), 'Ada')
  await rests('DEPLOYED')
  assert.equal(failures, 2)
})

test('an operation that cannot continue ends with an error that is reported, and can be tried again', async () => {
  const operation = createClusterWorkflow({
    database,
    clock,
    version: '1',
    parts: {
      checkEngine: async () => {},
      listFindings: async () => [],
      listEnvironments: async () => [],
      renewEnvironment: async () => [],
      stopEnvironment: async () => {},
      removeEnvironment: async () => {},
      eraseAll: async () => {},
      renewRouter: async () => {},
      publishRoutes: async () => {},
    },
  })
  const queue = { submit: workflows.submit, nudge: () => {} }
  const gate = Promise.withResolvers<void>()
  engine = () => gate.promise
  await createClusterOperations({ database, clock, workflows: queue }).upgrade(await row(), 'Ada')
  const [pending] = await database<{ id: string }[]>`select id from cluster_operation where finished_at is null`
  assert.ok(pending)
  await operation.abandoned({ operationId: pending.id }, 'failed: no way', database)
  assert.equal((await row()).status, 'DEPLOYMENT_ERROR')
  const last = (await operations.logs(organizationId, builtIn)).at(-1)
  assert.deepEqual([last?.type, last?.step], ['error', 'CreateError'])
  assert.match(last?.message.safe_message ?? '', /no way/)
  engine = async () => {}
  gate.resolve()
  await operations.deploy(organizationId, builtIn, 'Ada', false)
  await rests('DEPLOYED')
})

test('an operation whose workflow has ended no longer locks the cluster', async () => {
  const queue = { submit: workflows.submit, nudge: () => {} }
  const gate = Promise.withResolvers<void>()
  engine = () => gate.promise
  await createClusterOperations({ database, clock, workflows: queue }).upgrade(await row(), 'Ada')
  await database`update workflow set state = 'failed', error = 'failed: a bug' where state in ('queued', 'running')`
  gate.resolve()
  const finisher = createFinisher({ database, log: silentLogger, workflows: [workflow] })
  await finisher.reconcile(AbortSignal.timeout(60_000))
  assert.equal((await row()).status, 'DEPLOYMENT_ERROR')
  assert.match(
    (await operations.logs(organizationId, builtIn)).at(-1)?.message.safe_message ?? '',
    /failed: a bug.*Try again/,
  )
  await operations.deploy(organizationId, builtIn, 'Ada', false)
  await rests('DEPLOYED')
})

test('operations on a locked cluster and on a record are rejected, and nothing is stored', async () => {
  await locks.lock(await row(), 'Ada', { reason: 'a freeze' })
  await assert.rejects(operations.upgrade(await row(), 'Bob'), { code: 'conflict', message: /Ada: a freeze/ })
  await locks.unlock(await row())
  const { id } = await clusters.create(owner(organizationId), request('record'))
  const record = await rowOf(database, organizationId, id)
  await assert.rejects(operations.upgrade(record, 'Bob'), { code: 'invalid', message: /no engine/ })
  assert.deepEqual(await operations.logs(organizationId, id), [])
  await assert.rejects(operations.stop(organizationId, id, ada), { code: 'invalid', message: /no engine/ })
})

test('a stop stops every environment, locks the cluster meanwhile, and a deployment ends it', async () => {
  environments = [
    { id: 'e1', name: 'shop' },
    { id: 'e2', name: 'blog' },
  ]
  const gate = Promise.withResolvers<void>()
  stopEnvironment = () => gate.promise
  assert.equal((await operations.stop(organizationId, builtIn, ada)).status, 'STOP_QUEUED')
  await rests('STOPPING')
  await assert.rejects(operations.deploy(organizationId, builtIn, 'Bob', false), { message: /is STOPPING/ })
  gate.resolve()
  await rests('STOPPED')
  assert.deepEqual(done, ['stop e1', 'stop e2', 'stop e1', 'stop e2'])
  assert.deepEqual((await lines()).slice(-2), ['Pause', 'Paused'])
  assert.equal((await operations.stop(organizationId, builtIn, ada)).status, 'STOP_QUEUED')
  await rests('STOPPED')
  await operations.deploy(organizationId, builtIn, 'Ada', true)
  await rests('STOPPED')
  await operations.deploy(organizationId, builtIn, 'Ada', false)
  await rests('DEPLOYED')
})

test('a stop that cannot end says so, and can be tried again', async () => {
  environments = [{ id: 'e1', name: 'shop' }]
  stopEnvironment = () => Promise.reject(new Error('"web" hangs'))
  await operations.stop(organizationId, builtIn, ada)
  await rests('STOP_ERROR')
  const last = (await operations.logs(organizationId, builtIn)).at(-1)
  assert.deepEqual([last?.type, last?.step], ['error', 'PauseError'])
  assert.match(last?.message.safe_message ?? '', /could not be stopped \(.*"web" hangs.*Stop it again/)
  await operations.deploy(organizationId, builtIn, 'Ada', false)
  await rests('DEPLOYED')
})

/** A connected cluster with an environment, if any. */
async function addConnected(name: string, hasEnvironment: boolean) {
  const { id } = await clusters.create(owner(organizationId), request(name))
  await database`update cluster set sealed_kubeconfig = 'v1.b25l', engine = ${engineNameOf(id)}, status = 'DEPLOYED'
    where id = ${id}`
  const [project, environment] = [newId(), newId()]
  if (hasEnvironment) {
    await database`insert into project (id, organization_id, created_at, updated_at, name)
      values (${project}, ${organizationId}, now(), now(), ${name})`
    await database`insert into environment (id, project_id, cluster_id, created_at, updated_at, name, mode)
      values (${environment}, ${project}, ${id}, now(), now(), 'shop', 'STAGING')`
  }
  environments = hasEnvironment ? [{ id: environment, name: 'shop' }] : []
  removeEnvironment = async (one) => void (await database`delete from environment where id = ${one}`)
  return { id, environment }
}
const isGone = (id: string) =>
  until('the cluster is gone', async () => (await database`select from cluster where id = ${id}`).length === 0)

test('DEFAULT deletes no environment, removes what is left on the cluster, and then the record', async () => {
  const used = await addConnected('used', true)
  const message = /has an environment; delete it first\. Or set deleteMode/
  await assert.rejects(operations.remove(organizationId, used.id, ada), { code: 'conflict', message })
  const { id } = await addConnected('empty', false)
  await operations.remove(organizationId, id, ada)
  await isGone(id)
  assert.deepEqual(done, ['erase'])
})

test('DELETE_CLUSTER_AND_QOVERY_CONFIG deletes each environment in a step, and what is left', async () => {
  const { id, environment } = await addConnected('whole', true)
  const gate = Promise.withResolvers<void>()
  const remove = removeEnvironment
  removeEnvironment = (one) => gate.promise.then(() => remove(one))
  await operations.remove(organizationId, id, ada, { deleteMode: 'DELETE_CLUSTER_AND_QOVERY_CONFIG' })
  await until('it is DELETING', async () => (await rowOf(database, organizationId, id)).status === 'DELETING')
  const again = { code: 'conflict', message: /is DELETING/ }
  await assert.rejects(operations.remove(organizationId, id, ada), again)
  await assert.rejects(operations.upgrade(await rowOf(database, organizationId, id), 'Ada'), again)
  await assert.rejects(findClusterId(database, organizationId, id), { code: 'conflict', message: /is being deleted/ })
  gate.resolve()
  await isGone(id)
  assert.deepEqual(done, [`remove ${environment}`, 'erase'])
})

test('DELETE_QOVERY_CONFIG deletes the records, and forgets first how to reach the cluster', async () => {
  const { id, environment } = await addConnected('gone', true)
  const remove = removeEnvironment
  let reached: string | null | undefined
  removeEnvironment = async (one) => {
    const { engine, sealed_kubeconfig } = await rowOf(database, organizationId, id)
    reached = engine ?? sealed_kubeconfig
    await remove(one)
  }
  await operations.remove(organizationId, id, ada, { deleteMode: 'DELETE_QOVERY_CONFIG' })
  await isGone(id)
  assert.deepEqual(done, [`remove ${environment}`])
  assert.equal(reached, null)
  const empty = await addConnected('also gone', false)
  await operations.remove(organizationId, empty.id, ada, { skipReconcile: true })
  await isGone(empty.id)
  assert.deepEqual(done, [`remove ${environment}`], 'nothing on the cluster is asked')
})

test('a deletion that cannot continue says so and names the mode that always can', async () => {
  const { id } = await addConnected('stuck', true)
  removeEnvironment = async () => {
    throw new Error('the cluster refused it')
  }
  await operations.remove(organizationId, id, ada, { deleteMode: 'DELETE_CLUSTER_AND_QOVERY_CONFIG' })
  await until('it has failed', async () => (await rowOf(database, organizationId, id)).status === 'DELETE_ERROR')
  const last = (await operations.logs(organizationId, id)).at(-1)
  assert.match(last?.message.safe_message ?? '', /the cluster refused it.*deleteMode=DELETE_QOVERY_CONFIG/)
})
