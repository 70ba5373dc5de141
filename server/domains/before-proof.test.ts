import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, readMigrations } from '../database/migrate.ts'
import { emptyDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createFakeRouter } from '../routers/index.ts'
import { addPlace } from '../variables/testing.ts'
import { createRoutePublisher } from './publisher.ts'
import { createRouteMarks } from './route-marks.ts'
import { replaceHosts } from './route-store.ts'

test('domains from before proofs existed keep their routes when the database is upgraded', async (t) => {
  const { sql } = await emptyDatabase(t)
  const all = await readMigrations()
  const before = all.slice(
    0,
    all.findIndex(({ name }) => name.endsWith('_domain_proof.sql')),
  )
  assert.notEqual(before.length, all.length)
  await migrate(sql, { log: silentLogger, migrations: before })
  const { service } = await addPlace(sql)
  const [serviceId, id, now] = [service.serviceId, newId(), new Date()]
  const own = { host: 'shop.apps.example.org', port_name: 'p80', internal_port: 80, is_default: true }
  await sql`insert into route ${sql({ ...own, service_id: serviceId, endpoints: sql.json([]), updated_at: now })}`
  await sql`
    insert into custom_domain (id, service_id, created_at, updated_at, domain, generate_certificate, use_cdn)
    values (${id}, ${serviceId}, ${now}, ${now}, '*.example.com', false, false)`
  const custom = { ...own, host: '*.example.com', service_id: serviceId, custom_domain_id: id }
  await sql`insert into route ${sql({ ...custom, endpoints: sql.json([]), updated_at: now })}`

  await migrate(sql, { log: silentLogger })
  const [row] = await sql<{ organization_id: string; base: string; proof: string }[]>`
    select organization_id, base, proof from custom_domain`
  assert.deepEqual(
    { ...row },
    { organization_id: service.organizationId, base: 'example.com', proof: 'BEFORE_REQUIRED' },
  )
  // Routes are rewritten whenever a service changes.
  await replaceHosts(sql, serviceId, [own], now)
  const router = createFakeRouter()
  await createRoutePublisher({
    database: sql,
    marks: createRouteMarks({ database: sql, clock: systemClock }),
    router,
  }).apply(new AbortController().signal)
  assert.deepEqual(
    router.routes.map(({ host }) => host),
    ['*.example.com', 'shop.apps.example.org'],
  )
})
