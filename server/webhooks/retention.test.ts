import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { createDeliveryPruner } from './retention.ts'
import { type Bench, openBench } from './testing.ts'

const dayMs = 24 * 3600 * 1000
const { signal } = new AbortController()

/** Prunes as if so many days had passed. */
async function prune({ sql }: Bench, days: number): Promise<void> {
  const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + days * dayMs) }
  await createDeliveryPruner({ database: sql, clock, days: 30 }).reconcile(signal)
}

const countOf = async ({ sql }: Bench, table: 'event' | 'webhook_delivery'): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(table)}`
  return row?.count ?? 0
}

/** Adds deliveries of a new event each. They began so many days ago, and a second apart. */
async function add({ sql, happen }: Bench, webhookId: string, count: number, days: number, state = 'delivered') {
  const first = await happen('DEPLOYMENT_SUCCESSFUL')
  const ids = Array.from({ length: count }, () => newId())
  await sql`
    insert into event (id, organization_id, project_id, environment_id, type, payload_id, payload, created_at,
      dispatched_at)
    select made.id, e.organization_id, e.project_id, e.environment_id, e.type, made.id, e.payload,
      now() - make_interval(days => ${days}, secs => place), now()
    from event e, unnest(${ids}::uuid[]) with ordinality as made (id, place) where e.id = ${first}`
  await sql`delete from event where id = ${first}`
  await sql`
    insert into webhook_delivery (id, webhook_id, event_id, event_seq, created_at, state, next_attempt_at)
    select gen_random_uuid(), ${webhookId}, id, seq, created_at, ${state}, now() from event where id = any(${ids})`
}

test('old deliveries are deleted with their events, except the newest hundred of each webhook', async (t) => {
  const bench = await openBench(t)
  const [busy, quiet] = [(await bench.register()).id, (await bench.register()).id]
  await add(bench, busy, 2_500, 40)
  await add(bench, busy, 30, 10)
  await add(bench, quiet, 20, 400)
  await prune(bench, 0)
  assert.deepEqual([await countOf(bench, 'webhook_delivery'), await countOf(bench, 'event')], [120, 120])
  assert.equal((await bench.list(busy)).length, 100)
  assert.equal((await bench.list(quiet)).length, 20)
  await prune(bench, 100)
  assert.equal(await countOf(bench, 'event'), 120)
})

test('deliveries that are not finished, and young ones, stay however many there are', async (t) => {
  const bench = await openBench(t)
  const { id } = await bench.register()
  await add(bench, id, 110, 10)
  await add(bench, id, 150, 60, 'pending')
  await prune(bench, 0)
  assert.equal(await countOf(bench, 'webhook_delivery'), 260)
})

test('an event without a webhook is deleted when it is old, and one that is not dispatched stays', async (t) => {
  const bench = await openBench(t)
  await bench.happen('DEPLOYMENT_STARTED')
  await bench.pass()
  await prune(bench, 29)
  assert.equal(await countOf(bench, 'event'), 1)
  await bench.happen('DEPLOYMENT_SUCCESSFUL')
  await prune(bench, 31)
  assert.equal(await countOf(bench, 'event'), 1)
  await bench.pass()
  await prune(bench, 31)
  assert.equal(await countOf(bench, 'event'), 0)
})
