import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { createGroups } from '../services/index.ts'
import { testVault } from '../vault/testing.ts'
import { createClusterLocks } from './cluster-locks.ts'
import { createClusterOperations } from './cluster-operations.ts'
import { createClusterRecords } from './clusters.ts'
import { createCredentials } from './credentials.ts'
import { addOrganization, owner, request, rowOf } from './testing.ts'

const { sql: database } = await testDatabase({ after })
const vault = await testVault({ after }, database)
const clusters = createClusterRecords({ database, clock, ceilingOf: () => ({ cpu: 4000, memory: 8192 }) })
const locks = createClusterLocks({ database, clock })
const credentials = createCredentials({ database, vault, clock })
const groups = createGroups({ database, clock })
const { organizationId, builtIn } = await addOrganization(database)
const other = await addOrganization(database)
const noWork = {
  submit: () => Promise.reject(new Error('a record is deleted at once')),
  nudge: () => {},
}
const operations = createClusterOperations({ database, clock, workflows: noWork })
const removal = (organization: string, id: string) => operations.remove(organization, id, { id: 'ada', name: 'Ada' })

test('a new cluster is a record: READY, never deployed, with every field of the request', async () => {
  const features = [{ id: 'VPC_SUBNET', value: '10.9.0.0/16' }]
  const body = request('one', { max_running_nodes: 3, features, ssh_keys: ['ssh-ed25519 AAAA'], disk_iops: 4000 })
  const made = await clusters.create(owner(organizationId), body)
  assert.deepEqual(
    [made.status, made.deployment_status, made.is_default, made.is_demo, made.cpu, made.disk_size, made.disk_iops],
    ['READY', 'NEVER_DEPLOYED', false, false, 0, 40, 4000],
  )
  assert.deepEqual(made.features[0]?.value_object, { type: 'STRING', value: '10.9.0.0/16' })
  assert.equal(made.features[0]?.id, 'VPC_SUBNET')
  assert.deepEqual(await clusters.readiness(organizationId, made.id), { is_ready: false })
  await assert.rejects(clusters.create(owner(organizationId), request('ONE')), { code: 'conflict', message: /"ONE"/ })
  await clusters.create(owner(other.organizationId), request('one'))
})

test('the built-in cluster is the machine: ready, with its own credentials, and cannot be deleted', async () => {
  const all = await clusters.list(organizationId)
  const local = all.find(({ id }) => id === builtIn)
  assert.ok(local)
  assert.deepEqual(
    [local.status, local.deployment_status, local.is_default, local.cpu, local.memory],
    ['DEPLOYED', 'UP_TO_DATE', true, 4000, 8192],
  )
  assert.deepEqual(await clusters.readiness(organizationId, builtIn), { is_ready: true })
  const info = await clusters.cloudProviderInfo(organizationId, builtIn)
  assert.ok(info.credentials)
  assert.deepEqual([info.cloud_provider, info.region, info.credentials.name], ['ON_PREMISE', 'on-premise', 'local'])
  await assert.rejects(credentials.remove(organizationId, 'onPremise', info.credentials.id), {
    code: 'conflict',
    message: /"local"/,
  })
  await assert.rejects(removal(organizationId, builtIn), { code: 'conflict', message: /built in/ })
})

test('an edit changes the named fields, null is the default, and changes with an effect make it out of date', async () => {
  const edit = (body: object) => clusters.edit(organizationId, builtIn, body)
  const first = await edit({ description: 'mine', production: true, name: 'Machine' })
  assert.deepEqual([first.description, first.production, first.deployment_status], ['mine', true, 'OUT_OF_DATE'])
  const second = await edit({ max_running_nodes: 5, ssh_keys: ['ssh-rsa A'], description: null })
  assert.deepEqual([second.max_running_nodes, second.description, second.production], [5, '', true])
  const third = await edit({ ssh_keys: null })
  assert.deepEqual([third.ssh_keys, third.max_running_nodes], [[], 5])
  for (const [body, message] of [
    [{ cloud_provider: 'AWS' }, /^cloud_provider cannot be changed/],
    [{ kubernetes: 'MANAGED' }, /^kubernetes cannot be changed/],
    [{ min_running_nodes: 6 }, /^min_running_nodes must not be greater/],
    [{ ssh_keys: ['-----BEGIN OPENSSH PRIVATE KEY-----'] }, /^ssh_keys\[0\]/],
    [{ features: [{ id: 'KARPENTER', value: {} }] }, /^features\[0\].id/],
    [{ secret_manager_accesses: [{}] }, /^secret_manager_accesses must be empty/],
  ] as const)
    await assert.rejects(edit(body), { code: 'invalid', message })
  assert.equal((await clusters.status(organizationId, builtIn)).status, 'DEPLOYED')
})

test('a change of the name alone does not make a cluster out of date', async () => {
  const { builtIn: id, organizationId: organization } = await addOrganization(database)
  assert.equal((await clusters.edit(organization, id, { name: 'Renamed' })).deployment_status, 'UP_TO_DATE')
})

test('values of features have the types of the catalogue', async () => {
  const create = (id: string, value: string | boolean) =>
    clusters.create(owner(organizationId), request(newId(), { features: [{ id, value }] }))
  await assert.rejects(create('STATIC_IP', 'true'), { message: /^features\[0\].value must be true or false/ })
  await assert.rejects(create('VPC_SUBNET', true), { message: /^features\[0\].value must be a string/ })
  await assert.rejects(create('EXISTING_VPC', 'vpc-1'), { message: /^features\[0\].value must be an object/ })
})

test('credentials and labels belong to the organization and to the cluster’s provider', async () => {
  const aws = { name: 'a', type: 'AWS_ROLE', role_arn: 'arn' }
  const { id } = await credentials.create(organizationId, 'aws', aws)
  const foreign = await credentials.create(other.organizationId, 'aws', aws)
  const azure = await credentials.create(organizationId, 'azure', {
    name: 'z',
    azure_subscription_id: 's',
    azure_tenant_id: 't',
  })
  const label = await groups.create(organizationId, 'labels', { name: 'team', entries: [], scopes: [] })
  const naming = (credentialsId: string) => ({ cloud_provider_credentials: { credentials: { id: credentialsId } } })
  const create = (change: object) => clusters.create(owner(organizationId), request(newId(), change))
  for (const wrong of [foreign.id, azure.id, newId()]) {
    const message = /^cloud_provider_credentials.credentials.id/
    await assert.rejects(create(naming(wrong)), { code: 'notFound', message })
  }
  await assert.rejects(create({ labels_groups: [{ id: newId() }] }), {
    code: 'notFound',
    message: /^labels_groups\[0\]/,
  })
  const made = await create({ ...naming(id), labels_groups: [{ id: label.id }] })
  assert.deepEqual(made.labels_groups, [{ id: label.id }])
  await assert.rejects(credentials.remove(organizationId, 'aws', id), { code: 'conflict' })
  const listed = (await credentials.listAll(organizationId)).find(({ credential }) => credential.id === id)
  assert.deepEqual(listed?.clusters, [{ id: made.id, name: made.name, cloud_provider: 'AWS' }])
  const info = await clusters.setCloudProviderInfo(organizationId, made.id, { credentials: null, region: 'eu-west-1' })
  assert.deepEqual(info, { cloud_provider: 'AWS', credentials: null, region: 'eu-west-1' })
  await credentials.remove(organizationId, 'aws', id)
})

test('a restricted organization cannot create managed clusters', async () => {
  const create = (restriction: string, kubernetes: 'MANAGED' | 'SELF_MANAGED') =>
    clusters.create(owner(organizationId, restriction), request(newId(), { kubernetes }))
  for (const restriction of ['NO_CREDIT_CARD', 'OTHER']) {
    await assert.rejects(create(restriction, 'MANAGED'), { code: 'conflict', message: new RegExp(restriction) })
    await create(restriction, 'SELF_MANAGED')
  }
})

test('a lock prevents changes of a cluster until it is removed or expires', async () => {
  const { id } = await clusters.create(owner(organizationId), request('locked'))
  const row = await rowOf(database, organizationId, id)
  const lock = await locks.lock(row, 'Ada', { reason: ' a freeze ', ttl_in_days: 1 })
  assert.deepEqual([lock.reason, lock.owner_name, lock.ttl_in_days], ['a freeze', 'Ada', 1])
  assert.equal((await clusters.status(organizationId, id)).cluster_lock?.reason, 'a freeze')
  assert.deepEqual(
    (await locks.list(organizationId)).map(({ cluster_id }) => cluster_id),
    [id],
  )
  assert.equal((await locks.list(other.organizationId)).length, 0)
  await assert.rejects(locks.lock(row, 'Bob', { reason: 'x' }), { code: 'conflict', message: /locked by Ada/ })
  await assert.rejects(removal(organizationId, id), { code: 'conflict', message: /locked by Ada: a freeze/ })
  await assert.rejects(clusters.edit(organizationId, id, { name: 'x' }), { code: 'conflict' })
  await database`update cluster_lock set locked_at = now() - interval '25 hours' where cluster_id = ${id}`
  assert.equal((await clusters.status(organizationId, id)).cluster_lock, null)
  assert.equal((await locks.lock(row, 'Bob', { reason: 'mine' })).owner_name, 'Bob')
  await locks.unlock(row)
  await locks.unlock(row)
  await removal(organizationId, id)
  await assert.rejects(clusters.status(organizationId, id), { code: 'notFound' })
})

test('a cluster of another organization is not found', async () => {
  for (const call of [
    () => clusters.status(organizationId, other.builtIn),
    () => clusters.edit(organizationId, other.builtIn, { name: 'x' }),
    () => removal(organizationId, other.builtIn),
    () => clusters.setCloudProviderInfo(organizationId, other.builtIn, {}),
  ])
    await assert.rejects(call, { code: 'notFound' })
})
