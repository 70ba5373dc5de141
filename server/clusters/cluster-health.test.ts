import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { type ClusterReport, createClusterHealth } from './cluster-health.ts'
import { createClusterRecords } from './clusters.ts'
import { engineNameOf } from './engine-name.ts'
import { addOrganization, owner, request } from './testing.ts'

const { sql: database } = await testDatabase({ after })
let seconds = 0
const clock = { ...systemClock, now: () => new Date(1_700_000_000_000 + seconds * 1000) }
const clusters = createClusterRecords({ database, clock, ceilingOf: () => ({ cpu: 7, memory: 7 }) })
const { organizationId, builtIn } = await addOrganization(database)
const { id } = await clusters.create(owner(organizationId), request('far'))
await database`update cluster set status = 'DEPLOYED', engine = ${engineNameOf(id)} where id = ${id}`

const good: ClusterReport = {
  state: 'REACHABLE',
  version: 'v1.34.4',
  nodes: ['a', 'b'],
  cpuMilli: 3860,
  memoryMiB: 7000,
}
let report: ClusterReport | undefined
const health = createClusterHealth(
  { database, clock, log: silentLogger },
  { name: engineNameOf(id), engine: { report: async () => report } },
  'cluster health',
)
const look = async (next: ClusterReport | undefined) => {
  report = next
  await health.reconcile(AbortSignal.timeout(60_000))
  return clusters.status(organizationId, id)
}

test('a cluster that was not asked yet has no health and no capacity, and the built-in one never has', async () => {
  assert.equal((await look(undefined)).health, null)
  const capacities = new Map((await clusters.list(organizationId)).map((one) => [one.id, [one.cpu, one.memory]]))
  assert.deepEqual(
    [capacities.get(builtIn), capacities.get(id)],
    [
      [7, 7],
      [0, 0],
    ],
  )
  assert.equal((await clusters.status(organizationId, builtIn)).health, null)
})

test('a cluster shows its version, the number of its nodes and what all of them have', async () => {
  const since = clock.now()
  assert.deepEqual((await look(good)).health, {
    state: 'REACHABLE',
    since,
    reason: null,
    kubernetes_version: 'v1.34.4',
    node_count: 2,
    cpu: 3860,
    memory: 7000,
  })
  const far = (await clusters.list(organizationId)).find((one) => one.id === id)
  assert.deepEqual([far?.version, far?.cpu, far?.memory], ['v1.34.4', 3860, 7000])
  assert.deepEqual(await clusters.readiness(organizationId, id), { is_ready: true })
})

test('a cluster that stops answering shows since when and why, keeps its facts, and returns by itself', async () => {
  seconds = 60
  const away = await look({ state: 'UNREACHABLE', reason: 'The cluster did not answer within 15 s.' })
  assert.equal(away.status, 'DEPLOYED')
  assert.equal(away.health?.state, 'UNREACHABLE')
  assert.match(away.health?.reason ?? '', /did not answer/)
  assert.deepEqual([away.health?.since, away.health?.node_count], [clock.now(), 2])
  assert.deepEqual(await clusters.readiness(organizationId, id), { is_ready: false })
  seconds = 90
  const still = await look({ state: 'UNREACHABLE', reason: 'Another reason.' })
  assert.deepEqual(still.health?.since, away.health?.since)
  seconds = 120
  const back = await look(good)
  assert.deepEqual([back.health?.state, back.health?.reason, back.health?.since], ['REACHABLE', null, clock.now()])
})

test('a cluster that no longer accepts the platform is INVALID_CREDENTIALS until it does', async () => {
  const lost = await look({ state: 'REFUSED', reason: 'The user of the cluster may not patch secrets.' })
  assert.equal(lost.status, 'INVALID_CREDENTIALS')
  assert.equal((await clusters.list(organizationId)).find((one) => one.id === id)?.status, 'INVALID_CREDENTIALS')
  assert.equal((await look(good)).status, 'DEPLOYED')
})

test('a change is reported when a cluster begins or ceases to answer, and not for each new reason', async () => {
  const count = async (): Promise<number> =>
    (await database`select from state_change where type = 'cluster.status' and cluster_id = ${id}`).length
  await look(good)
  const before = await count()
  assert.ok(before > 0)
  await look({ state: 'UNREACHABLE', reason: 'It did not answer.' })
  await look({ state: 'UNREACHABLE', reason: 'Another reason.' })
  assert.equal(await count(), before + 1)
  await look(good)
  assert.equal(await count(), before + 2)
})
