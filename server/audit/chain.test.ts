import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { runIfDue } from '../database/testing-due.ts'
import { newId } from '../lib/id.ts'
import { createSealer, recordChange, verifyChain } from './index.ts'
import { sampleEntry } from './testing.ts'

const { signal } = new AbortController()
const seal = (database: Database): Promise<boolean> => runIfDue(database, createSealer({ database }), signal)

/** Runs statements as someone with every right on the database. */
const tamper = (sql: Database, work: (sql: Database) => Promise<unknown>): Promise<unknown> =>
  sql`alter table audit_event disable trigger all`
    .then(() => work(sql))
    .finally(() => sql`alter table audit_event enable trigger all`)

async function filled(sql: Database, rows: number): Promise<string> {
  const organizationId = newId()
  for (let row = 1; row <= rows; row++) {
    await recordChange(sql, sampleEntry(organizationId, { target_name: `number ${row}`, change: `{"row":${row}}` }))
  }
  await seal(sql)
  return organizationId
}

test('rows are numbered without gaps in each organization, and the chain is valid', async (t) => {
  const { sql } = await testDatabase(t)
  const [a, b] = [await filled(sql, 3), await filled(sql, 2)]
  await recordChange(sql, sampleEntry(a, { target_name: 'number 4' }))
  await seal(sql)
  const rows = await sql`
    select target_name, sequence from audit_event where organization_id = ${a} order by sequence`
  assert.deepEqual(
    rows.map(({ target_name, sequence }) => [target_name, sequence]),
    [1, 2, 3, 4].map((number) => [`number ${number}`, number]),
  )
  assert.deepEqual(await verifyChain(sql, a), { intact: true, rows: 4 })
  assert.deepEqual(await verifyChain(sql, b), { intact: true, rows: 2 })
  assert.deepEqual(await verifyChain(sql, newId()), { intact: true, rows: 0 })
})

test('a change that is committed later is chained later and blocks no other', async (t) => {
  const { sql } = await testDatabase(t)
  const organizationId = newId()
  await sql.begin(async (slow) => {
    await recordChange(slow, sampleEntry(organizationId, { target_name: 'slow' }))
    await recordChange(sql, sampleEntry(organizationId, { target_name: 'quick' }))
    await seal(sql)
  })
  await seal(sql)
  const rows = await sql`select target_name from audit_event where organization_id = ${organizationId}
    order by sequence`
  assert.deepEqual(
    rows.map(({ target_name }) => target_name),
    ['quick', 'slow'],
  )
  assert.deepEqual(await verifyChain(sql, organizationId), { intact: true, rows: 2 })
})

test('two servers that seal at the same time build one chain', async (t) => {
  const { sql } = await testDatabase(t)
  const organizationId = newId()
  for (let row = 0; row < 20; row++) await recordChange(sql, sampleEntry(organizationId))
  await Promise.all([seal(sql), seal(sql), seal(sql)])
  assert.deepEqual(await verifyChain(sql, organizationId), { intact: true, rows: 20 })
})

test('the application can neither change nor remove a row', async (t) => {
  const { sql } = await testDatabase(t)
  const organizationId = await filled(sql, 2)
  await recordChange(sql, sampleEntry(organizationId))
  for (const attempt of [
    sql`update audit_event set target_name = 'other'`,
    sql`update audit_event set target_name = 'other' where sequence is null`,
    sql`update audit_event set sequence = sequence + 10`,
    sql`update audit_event set sequence = null, hash = null where sequence = 2`,
    sql`delete from audit_event`,
    sql`truncate audit_event`,
  ]) {
    await assert.rejects(attempt, /the record of changes cannot be changed/)
  }
  assert.deepEqual(await verifyChain(sql, organizationId), { intact: true, rows: 2 })
})

test('a row that was changed or removed by hand is found by its number', async (t) => {
  const { sql } = await testDatabase(t)
  const check = async (reason: string, sequence: number, work: (id: string) => Promise<unknown>): Promise<void> => {
    const organizationId = await filled(sql, 4)
    await tamper(sql, () => work(organizationId))
    assert.deepEqual(await verifyChain(sql, organizationId), { intact: false, sequence, reason })
  }
  const at = (id: string, sequence: number) => sql`organization_id = ${id} and sequence = ${sequence}`
  await check('changed', 2, (id) => sql`update audit_event set triggered_by = 'nobody' where ${at(id, 2)}`)
  await check('changed', 3, (id) => sql`update audit_event set change = '{"row": 3}' where ${at(id, 3)}`)
  await check('missing', 3, (id) => sql`delete from audit_event where ${at(id, 3)}`)
  await check('missing', 4, (id) => sql`delete from audit_event where ${at(id, 4)}`)
  await check('missing', 1, (id) => sql`delete from audit_event where ${at(id, 1)}`)
  await check('changed', 2, async (id) => {
    await sql`update audit_event set sequence = -sequence where organization_id = ${id} and sequence in (2, 3)`
    await sql`update audit_event set sequence = 5 + sequence where organization_id = ${id} and sequence < 0`
  })
})
