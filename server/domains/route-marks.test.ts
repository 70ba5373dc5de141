import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { allClusters } from '../routers/index.ts'
import { addPlace } from '../variables/testing.ts'
import { createRouteMarks } from './route-marks.ts'
import { replaceHosts, setEndpoints } from './route-store.ts'
import { readServiceMarks, readTable } from './route-table-store.ts'

const now = new Date('2026-01-01T00:00:00Z')
const host = { host: 'web.localhost', port_name: 'web', internal_port: 80, is_default: true }
const here = { engines: ['here'], isRest: false }
const elsewhere = { engines: ['elsewhere'], isRest: false }

test('a mark is that of the table of its scope, and changes with it alone', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId: service } = (await addPlace(sql)).service
  await sql`update cluster set engine = 'here'`
  const marks = createRouteMarks({ database: sql, clock })
  const none = await marks.of(elsewhere)
  const seen = new Set<string>()
  const differs = async (): Promise<void> => {
    const mark = await marks.of(here)
    assert.ok(!seen.has(mark))
    seen.add(mark)
    assert.equal((await readTable(sql, here)).mark, mark)
    assert.equal((await readTable(sql)).mark, await marks.of(allClusters))
    assert.equal(await marks.of(elsewhere), none)
  }
  await differs()
  await replaceHosts(sql, service, [host], now)
  await differs()
  const before = await marks.ofEndpoints('here')
  await setEndpoints(sql, service, service, [{ port: 80, address: '10.0.0.1' }], now)
  await differs()
  const after = await marks.ofEndpoints('here')
  assert.notEqual(after, before)
  await sql`update service set state = 'DEPLOYED', name = 'other' where id = ${service}`
  await sql`update route_version set version = version + 1`
  await differs()
  assert.equal(await marks.ofEndpoints('here'), after)
  await setEndpoints(sql, service, service, [], now)
  await differs()
  const unserved = await marks.ofEndpoints('here')
  await replaceHosts(sql, service, [{ ...host, internal_port: 81 }], now)
  await differs()
  assert.notEqual(await marks.ofEndpoints('here'), unserved)
})

test('many callers share a statement, and each gets what was written before its call', async (t) => {
  const statements: string[] = []
  const { sql } = await testDatabase(t, { onStatement: (text) => void statements.push(text) })
  const { serviceId: service } = (await addPlace(sql)).service
  const marks = createRouteMarks({ database: sql, clock })
  const before = await marks.of(allClusters)
  await replaceHosts(sql, service, [host], now)
  statements.length = 0
  const all = await Promise.all(Array.from({ length: 100 }, () => marks.of(allClusters)))
  assert.equal(new Set(all).size, 1)
  assert.notEqual(all[0], before)
  assert.equal(statements.length, 2, statements.join('\n'))
})

test('the mark of a service changes with its hosts and endpoints', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId: service } = (await addPlace(sql)).service
  const marks = async () => (await readServiceMarks(sql, [service])).get(service)
  assert.equal(await marks(), undefined)
  await replaceHosts(sql, service, [host], now)
  const first = await marks()
  await setEndpoints(sql, service, service, [{ port: 80, address: '10.0.0.1' }], now)
  const second = await marks()
  await replaceHosts(sql, service, [{ ...host, internal_port: 81 }], now)
  assert.equal(new Set([undefined, first, second, await marks()]).size, 4)
})

test('members change the mark of an organization with a service behind the sign-in alone', async (t) => {
  const { sql } = await testDatabase(t)
  const { organizationId, serviceId } = (await addPlace(sql)).service
  await replaceHosts(sql, serviceId, [host], now)
  const read = () => readTable(sql, allClusters, { signIn: { page: 'https://q.test/', key: 'k' } })
  const addMember = async (): Promise<string> => {
    const id = newId()
    await sql`insert into account (id, created_at, updated_at, issuer, subject, name)
      values (${id}, now(), now(), 'quayside', ${id}, 'ada')`
    await sql`insert into member (organization_id, account_id, created_at, role)
      values (${organizationId}, ${id}, now(), 'VIEWER')`
    return id
  }
  const open = (await read()).mark
  const first = await addMember()
  assert.equal((await read()).mark, open)
  await sql`update service set advanced_settings = ${sql.json({ 'network.router.sign_in': 'member' })}`
  const guarded = await read()
  const list = `${organizationId}/VIEWER`
  assert.deepEqual(guarded.people, { [list]: { [first]: 0 } })
  const second = await addMember()
  const joined = await read()
  assert.notEqual(joined.mark, guarded.mark)
  assert.deepEqual(joined.people, { [list]: { [first]: 0, [second]: 0 } })
  assert.deepEqual(joined.routes, guarded.routes, 'a member changes no route')
  await sql`update account set signed_out_at = ${now} where id = ${first}`
  const out = await read()
  assert.notEqual(out.mark, joined.mark)
  assert.equal(out.people[list]?.[first], now.getTime())
  await addPlace(sql)
  assert.deepEqual(Object.keys((await read()).people), [list], 'organizations without such services have no list')
  await sql`update account set name = 'bob' where id = ${first}`
  assert.equal((await read()).mark, out.mark)
})
