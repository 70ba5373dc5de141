import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, inTransaction } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { addPlace } from '../variables/testing.ts'
import { claimDue } from './delivery-store.ts'

const now = new Date('2026-01-01T00:00:00Z')

/** Adds webhooks, each with one due delivery, and returns the organization. */
async function addDue(sql: Database, count: number, dueAt: Date): Promise<string> {
  const { organizationId, projectId, environmentId } = (await addPlace(sql)).environment
  const event = newId()
  await sql`
    insert into event (id, organization_id, project_id, environment_id, type, payload_id, payload, created_at,
    dispatched_at)
    values (${event}, ${organizationId}, ${projectId}, ${environmentId}, 'DEPLOYMENT_STARTED', ${newId()}, '{}',
    ${now}, ${now})`
  for (let index = 0; index < count; index++) {
    const webhook = newId()
    await sql`
      insert into webhook (id, organization_id, created_at, updated_at, target_url, kind, events,
      sealed_signing_secret, enabled)
      values (${webhook}, ${organizationId}, ${now}, ${now}, 'https://hooks.invalid/', 'STANDARD', '{}', '', true)`
    await sql`
      insert into webhook_delivery (id, webhook_id, event_id, event_seq, created_at, next_attempt_at)
      select ${newId()}, ${webhook}, id, seq, ${now}, ${dueAt} from event where id = ${event}`
  }
  return organizationId
}

test('deliveries of one organization leave room for those of another', async (t) => {
  const { sql } = await testDatabase(t)
  const first = await addDue(sql, 40, new Date(now.getTime() - 60_000))
  const second = await addDue(sql, 2, now)
  const until = new Date(now.getTime() + 20_000)
  const claim = (sending: readonly string[]) =>
    inTransaction(sql, (tx) => claimDue(tx, { now, until, count: 50 - sending.length, share: 20, sending }))
  const owners = (await claim([])).map((row) => row.organization_id)
  assert.equal(owners.filter((id) => id === first).length, 20)
  assert.equal(owners.filter((id) => id === second).length, 2)
  assert.equal((await claim(owners)).length, 0, 'its share is in progress')
  assert.equal((await claim(owners.slice(0, 15).fill(first))).length, 5)
})
