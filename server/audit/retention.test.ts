import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { createPruner, createSealer, recordChange, verifyChain } from './index.ts'
import { sampleEntry } from './testing.ts'

const { signal } = new AbortController()
const now = new Date('2026-06-30T12:00:00Z')
const clock = { ...systemClock, now: () => now }
const daysAgo = (days: number): Date => new Date(now.getTime() - days * 86_400_000)

test('rows are kept as long as their organization wants, and the chain starts after the removed ones', async (t) => {
  const { sql } = await testDatabase(t)
  const [keeps, long] = [newId(), newId()]
  for (const [id, days] of [
    [keeps, 7],
    [long, 100],
  ] as const) {
    await sql`insert into organization (id, created_at, updated_at, name, audit_logs_retention_in_days)
      values (${id}, ${now}, ${now}, ${id}, ${days})`
    for (const age of [30, 20, 6, 10, 1]) {
      await recordChange(sql, sampleEntry(id, { created_at: daysAgo(age), target_name: `${age} days` }))
    }
  }
  await createSealer({ database: sql }).reconcile(signal)
  for (let time = 0; time < 2; time++) await createPruner({ database: sql, clock }).reconcile(signal)
  const names = async (id: string) =>
    (
      await sql`select target_name from audit_event where organization_id = ${id}
      order by sequence`
    ).map((row) => row['target_name'])
  // An older row after a younger one stays, because only the beginning of a chain can be removed.
  assert.deepEqual(await names(keeps), ['6 days', '10 days', '1 days'])
  assert.equal((await names(long)).length, 5)
  assert.deepEqual(await verifyChain(sql, keeps), { intact: true, rows: 3 })
  await recordChange(sql, sampleEntry(keeps))
  await createSealer({ database: sql }).reconcile(signal)
  assert.deepEqual(await verifyChain(sql, keeps), { intact: true, rows: 4 })
})

test('rows of a deleted organization are removed too', async (t) => {
  const { sql } = await testDatabase(t)
  const id = newId()
  await recordChange(sql, sampleEntry(id, { created_at: daysAgo(1) }))
  await createSealer({ database: sql }).reconcile(signal)
  await createPruner({ database: sql, clock }).reconcile(signal)
  assert.equal((await sql`select from audit_event`).length, 0)
})
