import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { addPlace, addService, configVersionOf } from '../variables/testing.ts'
import { createGroups } from './groups.ts'
import { groupsOf, setGroups, tagsOf } from './owners.ts'

async function openBench(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const { service, environment } = await addPlace(sql)
  const groups = createGroups({ database: sql, clock: systemClock })
  const { organizationId } = service
  const label = (key: string, value = '') => ({ key, value, propagate_to_cloud_provider: true })
  const makeLabels = (name: string) =>
    groups.create(organizationId, 'labels', { name, entries: [label('team', 'shop')], scopes: [] })
  const makeAnnotations = (name: string) =>
    groups.create(organizationId, 'annotations', { name, entries: [{ key: 'a', value: 'b' }], scopes: ['PODS'] })
  const owner = { ownerId: service.serviceId, organizationId }
  return { sql, service, environment, groups, organizationId, label, makeLabels, makeAnnotations, owner }
}

test('groups of all services are read with one query and have all their entries', async (t) => {
  const { sql, service, environment, makeLabels, makeAnnotations, owner } = await openBench(t)
  const [labels, annotations] = [await makeLabels('one'), await makeAnnotations('one')]
  const other = await addService(sql, environment)
  await setGroups(sql, 'service', owner, { labels_groups: [labels], annotations_groups: [annotations] })
  await setGroups(sql, 'service', { ...owner, ownerId: other.serviceId }, { labels_groups: [labels] })
  const found = await groupsOf(sql, 'service', [service.serviceId, other.serviceId])
  const own = found.get(service.serviceId)
  assert.deepEqual(own?.labels_groups[0]?.labels, [{ key: 'team', value: 'shop', propagate_to_cloud_provider: true }])
  assert.deepEqual(own?.annotations_groups[0]?.annotations, [{ key: 'a', value: 'b' }])
  assert.deepEqual(own?.annotations_groups[0]?.scopes, ['PODS'])
  assert.deepEqual(found.get(other.serviceId)?.annotations_groups, [])
  assert.deepEqual(await tagsOf(sql, 'service', service.serviceId), {
    labels: { team: 'shop' },
    annotations: { PODS: { a: 'b' } },
  })
})

test('annotations that are too long in all their scopes are rejected before a version keeps them', async (t) => {
  const { sql, service, groups, organizationId, owner } = await openBench(t)
  const entries = Array.from({ length: 33 }, (_, index) => ({ key: `a${index}`, value: 'x'.repeat(4096) }))
  const make = (name: string, scopes: ('PODS' | 'JOBS')[]) =>
    groups.create(organizationId, 'annotations', { name, entries, scopes })
  await setGroups(sql, 'service', owner, { annotations_groups: [await make('one', ['PODS'])] })
  assert.equal(Object.keys((await tagsOf(sql, 'service', service.serviceId)).annotations.PODS ?? {}).length, 33)
  await setGroups(sql, 'service', owner, { annotations_groups: [await make('two', ['PODS', 'JOBS'])] })
  await assert.rejects(tagsOf(sql, 'service', service.serviceId), { code: 'conflict', message: /270514 bytes/ })
})

test('groups are unchanged when a request omits them, and removed by null and an empty list', async (t) => {
  const { sql, service, makeLabels, makeAnnotations, owner } = await openBench(t)
  const refs = { labels_groups: [await makeLabels('one')], annotations_groups: [await makeAnnotations('one')] }
  await setGroups(sql, 'service', owner, refs)
  await setGroups(sql, 'service', owner, { labels_groups: null })
  const of = async () => (await groupsOf(sql, 'service', [service.serviceId])).get(service.serviceId)
  assert.deepEqual((await of())?.labels_groups, [])
  assert.equal((await of())?.annotations_groups.length, 1)
  await setGroups(sql, 'service', owner, { annotations_groups: [] })
  assert.equal(await of(), undefined)
})

test('a group of another organization or kind is unknown and reported with its position in the request', async (t) => {
  const { sql, groups, owner, makeLabels, makeAnnotations } = await openBench(t)
  const foreign = (await addPlace(sql)).service.organizationId
  const theirs = await groups.create(foreign, 'labels', { name: 'one', entries: [], scopes: [] })
  const labels = await makeLabels('one')
  await assert.rejects(setGroups(sql, 'service', owner, { labels_groups: [labels, theirs] }), {
    code: 'notFound',
    message: `labels_groups[1].id: the labels group ${theirs.id} does not exist.`,
  })
  const annotations = await makeAnnotations('one')
  await assert.rejects(setGroups(sql, 'service', owner, { labels_groups: [annotations] }), {
    message: `labels_groups[0].id: the labels group ${annotations.id} does not exist.`,
  })
})

test('a group in use cannot be removed, and the error names its owner', async (t) => {
  const { sql, service, groups, organizationId, makeLabels, owner } = await openBench(t)
  const { id } = await makeLabels('one')
  const place = { organizationId, kind: 'labels' as const, id }
  await setGroups(sql, 'service', owner, { labels_groups: [{ id }] })
  await assert.rejects(groups.remove(place), { code: 'conflict', message: /"one" is in use by "service / })
  const items = await groups.items(place)
  assert.deepEqual(
    items.map(({ item_id, item_type }) => [item_id, item_type]),
    [[service.serviceId, 'APPLICATION']],
  )
  assert.equal((await groups.list(organizationId, 'labels'))[0]?.associated_items_count, 1)
  await setGroups(sql, 'service', owner, { labels_groups: [] })
  await groups.remove(place)
  await assert.rejects(groups.get(place), { code: 'notFound' })
})

test('the owners of a group include clusters, and jobs by their schedule', async (t) => {
  const { sql, service, groups, organizationId, makeLabels, owner } = await openBench(t)
  const { id } = await makeLabels('one')
  const place = { organizationId, kind: 'labels' as const, id }
  await setGroups(sql, 'service', owner, { labels_groups: [{ id }] })
  const [cluster] = await sql<{ id: string }[]>`select id from cluster where organization_id = ${organizationId}`
  await setGroups(sql, 'cluster', { organizationId, ownerId: cluster?.id ?? '' }, { labels_groups: [{ id }] })
  const types = async () => (await groups.items(place)).map(({ item_type }) => item_type)
  const schedule = (value: object) =>
    sql`update service set kind = 'job', settings = ${sql.json({ schedule: { ...value } })}
      where id = ${service.serviceId}`
  await schedule({ cronjob: { scheduled_at: '* * * * *' } })
  assert.deepEqual(await types(), ['CRON', 'CLUSTER'])
  await schedule({ on_start: { arguments: [] }, cronjob: null })
  assert.deepEqual(await types(), ['LIFECYCLE', 'CLUSTER'])
})

test('a group name is unique for each kind, ignoring case', async (t) => {
  const { makeLabels, makeAnnotations } = await openBench(t)
  await makeLabels('One')
  await assert.rejects(makeLabels('one'), { code: 'conflict' })
  await makeAnnotations('one')
})

test('changing a group makes its services out of date', async (t) => {
  const { sql, service, groups, organizationId, makeLabels, owner } = await openBench(t)
  const { id } = await makeLabels('one')
  await setGroups(sql, 'service', owner, { labels_groups: [{ id }] })
  const before = Number(await configVersionOf(sql, service))
  await groups.edit({ organizationId, kind: 'labels', id }, { name: 'two', entries: [], scopes: [] })
  assert.equal(Number(await configVersionOf(sql, service)), before + 1)
})

const badKeys = ['', '-a', 'a b', 'a/b/c', '/a', 'a/', 'ä', `${'x'.repeat(64)}`]
const badLabels = [
  ...badKeys,
  'traefik.enable',
  'caddy_0',
  'com.docker.compose.project',
  'io.kubernetes.pod',
  'quayside.service',
]
const badAnnotations = [
  ...badKeys,
  'nginx.ingress.kubernetes.io/configuration-snippet',
  'nginx.ingress.kubernetes.io/auth-url',
  'service.beta.kubernetes.io/aws-load-balancer-type',
]
test('a malformed, reserved or dangerous key is rejected by name', async (t) => {
  const { groups, organizationId, label } = await openBench(t)
  for (const key of badLabels) {
    const request = { name: 'x', entries: [label('fine'), label(key)], scopes: [] }
    await assert.rejects(groups.create(organizationId, 'labels', request), { message: /^labels\[1\]\.key / }, key)
  }
  for (const key of badAnnotations) {
    const request = { name: 'x', entries: [{ key, value: '' }], scopes: [] }
    await assert.rejects(
      groups.create(organizationId, 'annotations', request),
      { message: /^annotations\[0\]\.key / },
      key,
    )
  }
  const twice = { name: 'x', entries: [label('a'), label('a', 'b')], scopes: [] }
  await assert.rejects(groups.create(organizationId, 'labels', twice), { message: 'labels[1].key is used twice.' })
  const value = { name: 'x', entries: [label('a', 'b c')], scopes: [] }
  await assert.rejects(groups.create(organizationId, 'labels', value), { message: /^labels\[0\]\.value / })
  const fine = ['team', 'app.kubernetes.io/name', 'example.org/a_b']
  await groups.create(organizationId, 'labels', { name: 'x', entries: fine.map((key) => label(key)), scopes: [] })
})
