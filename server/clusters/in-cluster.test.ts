import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { testVault } from '../vault/testing.ts'
import { createClusterAccess } from './cluster-access.ts'
import { createClusterParts } from './cluster-parts.ts'
import { createClusterRecords } from './clusters.ts'
import { createConnector } from './connector.ts'
import { adoptInCluster, type InCluster, inClusterAccess, inClusterMark, networksOf } from './in-cluster.ts'
import { addOrganization, owner, request, rowOf } from './testing.ts'

const { sql: database } = await testDatabase({ after })
const vault = await testVault({ after }, database)
const directory = await mkdtemp(join(tmpdir(), 'quayside-in-cluster-'))
after(() => rm(directory, { recursive: true }))
await writeFile(join(directory, 'token'), 'first\n')
await writeFile(join(directory, 'ca.crt'), 'an authority')

const clusters = createClusterRecords({ database, clock, ceilingOf: () => ({ cpu: 1, memory: 1 }) })
const [own, other] = [await addOrganization(database), await addOrganization(database)]
const { id: clusterId } = await clusters.create(owner(own.organizationId), request('here'))
const { id: namesake } = await clusters.create(owner(other.organizationId), request('here'))
const inCluster: InCluster = { clusterId, server: 'https://10.96.0.1:443', directory }
const allowsHost = createAddressGuard({ allowedPrivateCidrs: [] }).literalIsAllowed
const access = createClusterAccess({ database, vault, clock, allowsHost, inCluster })
const parts = createClusterParts({
  database,
  clock,
  vault,
  domain: 'apps.test',
  ableOf: () => undefined,
  allowsHost,
  inCluster,
})

test('the cluster of the setting is connected without a kubeconfig, and its namesake elsewhere is not', async () => {
  const joined: string[] = []
  const connector = createConnector({
    database,
    log: silentLogger,
    adopt: () => adoptInCluster({ database, vault, clock }, inCluster),
    connect: ({ id }) => {
      joined.push(id)
      return { close: () => {} }
    },
    join: () => {},
    leave: () => {},
  })
  await connector.reconcile(AbortSignal.timeout(60_000))
  assert.deepEqual(joined, [clusterId])
  const { server, authority, readToken } = await access(clusterId)
  assert.deepEqual([server, authority], [inCluster.server, 'an authority'])
  assert.equal((await readToken?.())?.reveal(), 'first')
  await assert.rejects(access(namesake), { code: 'notFound' })
})

test('the address of the pod is allowed for that cluster alone', async () => {
  assert.deepEqual(networksOf(inCluster, clusterId), ['10.96.0.1/32'])
  assert.deepEqual(networksOf({ ...inCluster, server: 'https://[fd00::1]:443' }, clusterId), ['fd00::1/128'])
  assert.deepEqual(networksOf(inCluster, namesake), [])
  assert.deepEqual(networksOf(undefined, clusterId), [])
  const kubeconfig = `apiVersion: v1
kind: Config
current-context: here
clusters: [{ name: one, cluster: { server: "${inCluster.server}" } }]
contexts: [{ name: here, context: { cluster: one, user: me } }]
users: [{ name: me, user: { token: guessed } }]
`
  await assert.rejects(parts.setKubeconfig(other.organizationId, namesake, kubeconfig), { message: /is not public/ })
})

test('nobody asks for these credentials by a kubeconfig', async () => {
  await assert.rejects(parts.setKubeconfig(other.organizationId, namesake, inClusterMark), { code: 'invalid' })
  assert.equal((await rowOf(database, other.organizationId, namesake)).sealed_kubeconfig, null)
})

test('the cluster has no kubeconfig to read or replace', async () => {
  const message = /is reached by the service account of the server/
  await assert.rejects(parts.kubeconfig(own.organizationId, clusterId, false), { code: 'conflict', message })
  await assert.rejects(parts.setKubeconfig(own.organizationId, clusterId, 'x'), { code: 'conflict', message })
})

test('without the setting the cluster is no longer reached, and takes a kubeconfig again', async () => {
  const without = createClusterAccess({ database, vault, clock, allowsHost, inCluster: undefined })
  await assert.rejects(without(clusterId), { code: 'invalid', message: /no longer allows.*PUT a kubeconfig/ })
})

test('the built-in cluster and unknown ones are left alone', async () => {
  for (const id of [own.builtIn, newId()]) {
    await adoptInCluster({ database, vault, clock }, { ...inCluster, clusterId: id })
  }
  assert.equal((await rowOf(database, own.organizationId, own.builtIn)).sealed_kubeconfig, null)
})

test('a token that Kubernetes replaced is read within ten seconds', async () => {
  let nowMs = 0
  const { readToken } = await inClusterAccess(inCluster, { ...clock, monotonic: () => nowMs })
  const token = async () => (await readToken?.())?.reveal()
  assert.equal(await token(), 'first')
  await writeFile(join(directory, 'token'), 'second\n')
  assert.equal(await token(), 'first')
  nowMs += 10_001
  assert.equal(await token(), 'second')
  await rm(join(directory, 'token'))
  nowMs += 10_001
  await assert.rejects(token(), { code: 'unavailable', message: /QUAYSIDE_IN_CLUSTER_ID/ })
})
