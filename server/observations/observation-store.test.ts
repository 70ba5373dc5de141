import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { setEndpoints } from '../domains/index.ts'
import { newId, newRandomId } from '../lib/id.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { findWish, insertObservation, listCarriedOver, listWishes, readWishMarks } from './observation-store.ts'
import { beginRequest } from './testing.ts'

test('listWishes lists services of the engine with a release or a running request, and reported ones', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const add = async () => (await addService(sql, place.environment)).serviceId
  const [running, changing, reported, quiet] = [await add(), await add(), await add(), await add()]
  await sql`update service set release_id = ${newId()} where id = ${running}`
  await beginRequest(sql, place.service.environmentId, changing)
  await sql`update cluster set engine = 'here'`
  const listed = async (ids?: string[], engine = 'here') =>
    (await listWishes(sql, engine, ids)).map(({ id }) => id).sort()
  assert.deepEqual(await listed(), [running, changing].sort())
  assert.deepEqual(await listed([], 'elsewhere'), [])
  assert.deepEqual(await listed([reported], 'elsewhere'), [reported])
  assert.deepEqual(await listed([reported, running]), [running, changing, reported].sort())
  assert.deepEqual(await listed(['no id', newRandomId()]), [running, changing].sort())
  assert.equal((await findWish(sql, quiet))?.release_id, null)
})

test('the mark of an engine changes with what should run on it, and with nothing else', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId } = await addService(sql, place.environment)
  await sql`update cluster set engine = 'here'`
  const marks = async () => JSON.stringify(await readWishMarks(sql))
  const seen = new Set([await marks()])
  const differs = async (): Promise<void> => {
    const now = await marks()
    assert.ok(!seen.has(now))
    seen.add(now)
  }
  await sql`update service set release_id = ${newId()} where id = ${serviceId}`
  await differs()
  await sql`insert into service_scale (service_id, replicas, changed_at) values (${serviceId}, 3, now())`
  await differs()
  await sql`
    insert into full_volume (service_id, found_at, stopped_at, reason) values (${serviceId}, now(), now(), 'full')`
  await differs()
  const end = await beginRequest(sql, place.service.environmentId, serviceId)
  await differs()
  const before = await end().then(marks)
  await sql`update service set name = 'other', version = version + 1 where id = ${serviceId}`
  assert.equal(await marks(), before)
  await sql`update cluster set engine = 'elsewhere'`
  await differs()
})

test('listCarriedOver returns services whose stored observation and endpoints are the observed ones', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const id = (await addService(sql, place.environment)).serviceId
  const release = newId()
  await sql`update service set release_id = ${release} where id = ${id}`
  const replica = { name: 'one', release, running: true, image: 'i', exits: 0, outOfMemory: false, endpoints: [] }
  const seen = { state: 'running', release, replicas: [{ ...replica, startedAt: new Date() }] } as const
  const endpoints = [{ port: 80, address: '10.0.0.1' }]
  const wish = { id, release_id: release }
  const isCarried = async (change: object = {}) =>
    (await listCarriedOver(sql, [{ wish, seen: { ...seen, ...change }, endpoints }])).includes(id)
  assert.equal(await isCarried(), false)
  await insertObservation(sql, wish, seen, new Date())
  assert.equal(await isCarried(), true)
  assert.equal(await isCarried({ reason: 'its port is in use' }), false)
  assert.equal(await isCarried({ replicas: [] }), false)
  await sql`
    insert into route (host, service_id, port_name, internal_port, is_default, endpoints, updated_at)
    values ('web.localhost', ${id}, 'web', 80, true, '[]', now())`
  assert.equal(await isCarried(), false)
  await setEndpoints(sql, id, release, endpoints, new Date())
  assert.equal(await isCarried(), true)
  await setEndpoints(sql, id, release, [{ port: 80, address: '10.0.0.2' }], new Date())
  assert.equal(await isCarried(), false)
})
