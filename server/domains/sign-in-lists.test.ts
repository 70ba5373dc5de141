import assert from 'node:assert/strict'
import { test } from 'node:test'
import { admittedSince } from '@quayside/contract/sign-in.ts'
import { parseRouteTable } from '../../router/route-table.ts'
import { testDatabase } from '../database/testing.ts'
import { allClusters } from '../routers/index.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { readTable } from './route-table-store.ts'

test('a table has each member of an organization once, however many services are protected', async (t) => {
  const { sql } = await testDatabase(t)
  const { environment, service } = await addPlace(sql)
  await Promise.all(Array.from({ length: 99 }, () => addService(sql, environment)))
  await sql`update service set advanced_settings = ${sql.json({ 'network.router.sign_in': 'member' })}`
  await sql`
    insert into route (service_id, host, port_name, internal_port, is_default, updated_at, endpoints)
    select id, id || '.example.org', 'web', 80, true, now(), '[]' from service`
  await sql`
    insert into account (id, created_at, updated_at, issuer, subject, name)
    select gen_random_uuid(), now(), now(), 'quayside', n::text, 'ada' from generate_series(1, 1000) n`
  await sql`
    insert into member (organization_id, account_id, created_at, updated_at, role)
    select ${service.organizationId}, id, now(), now(), 'VIEWER' from account`
  const signIn = { page: 'https://q.test/oidc/applications', key: 'k'.repeat(43) }
  const table = await readTable(sql, allClusters, { signIn })
  const text = JSON.stringify({ version: 1, ...table })
  assert.ok(text.length < 150_000, `${text.length} characters`)
  const { routes, people = {} } = parseRouteTable(JSON.parse(text))
  assert.equal(routes.length, 100)
  const accounts = await sql<{ id: string }[]>`select id from account`
  for (const { rules } of routes) {
    const rule = rules?.signIn ?? assert.fail('no rule')
    assert.ok(accounts.every(({ id }) => admittedSince(people, rule, id) === 0))
    assert.equal(admittedSince(people, rule, '__proto__'), undefined)
  }
})
