import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { run } from '../lib/run.ts'
import { createPruner, createSealer, recordChange, verifyAll } from './index.ts'
import { sampleEntry } from './testing.ts'

const { signal } = new AbortController()
const root = join(import.meta.dirname, '..', '..')
const daysAgo = (days: number): Date => new Date(clock.now().getTime() - days * 86_400_000)

async function filled(sql: Database, name: string, ages: readonly number[]): Promise<string> {
  const id = newId()
  await sql`insert into organization (id, created_at, updated_at, name) values (${id}, now(), now(), ${name})`
  for (const age of ages) {
    await recordChange(sql, sampleEntry(id, { created_at: daysAgo(age), target_name: `${age} days` }))
  }
  await createSealer({ database: sql }).reconcile(signal)
  return id
}

/** Runs statements as someone with every right on the database. */
const tamper = (sql: Database, work: () => Promise<unknown>): Promise<unknown> =>
  sql`alter table audit_event disable trigger all`
    .then(work)
    .finally(() => sql`alter table audit_event enable trigger all`)

/** Runs the operator's command beside a server that uses the same database. */
async function verify(url: string): Promise<{ exitCode: number; said: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-verify-'))
  const { exitCode, stdout, stderr } = await run(process.execPath, [join(root, 'server/start/verify-audit.ts')], {
    cwd: root,
    env: { QUAYSIDE_DATA: directory, QUAYSIDE_DATABASE_URL: url },
    timeoutMs: 120_000,
  }).finally(() => rm(directory, { recursive: true, force: true }))
  return { exitCode: exitCode ?? -1, said: `${stdout}${stderr}` }
}

const attacks: Readonly<Record<string, (sql: Database, id: string) => Promise<unknown>>> = {
  'row 2 does not fit': (sql, id) =>
    sql`update audit_event set triggered_by = 'nobody' where organization_id = ${id} and sequence = 2`,
  'row 3 is missing': (sql, id) => sql`delete from audit_event where organization_id = ${id} and sequence = 3`,
  'row 1 does not fit': async (sql, id) => {
    await sql`update audit_event set sequence = -sequence where organization_id = ${id} and sequence in (1, 2)`
    await sql`update audit_event set sequence = 3 + sequence where organization_id = ${id} and sequence < 0`
  },
  'row 4 is missing': (sql, id) => sql`delete from audit_event where organization_id = ${id} and sequence = 4`,
  'row 1 is missing': (sql, id) => sql`delete from audit_chain where organization_id = ${id}`,
}

for (const [finding, attack] of Object.entries(attacks)) {
  test(`the command names the first wrong row: ${finding}`, async (t) => {
    const { sql, url } = await testDatabase(t)
    await filled(sql, 'untouched', [2, 1])
    const id = await filled(sql, 'touched', [4, 3, 2, 1])
    assert.deepEqual(
      (await verifyAll(sql)).map(({ state }) => state.intact),
      [true, true],
    )
    await tamper(sql, () => attack(sql, id))
    const { exitCode, said } = await verify(url)
    assert.equal(exitCode, 1, said)
    assert.ok(said.includes(`Organization "touched" (${id}): ${finding}`), said)
    assert.match(said, /Organization "untouched" .*: 2 rows, all as they were written/)
  })
}

test('the chain stays valid when retention removes rows, and the operator sets the retention', async (t) => {
  const { sql, url } = await testDatabase(t)
  await filled(sql, 'shop', [40, 20, 3])
  await createPruner({ database: sql, clock, days: 7 }).reconcile(signal)
  const [row] = await sql`select audit_logs_retention_in_days as days from organization where name = 'shop'`
  assert.equal(row?.['days'], 7)
  const { exitCode, said } = await verify(url)
  assert.deepEqual([exitCode, /"shop" .*: 1 rows/.test(said)], [0, true], said)
})

test('rows that a server seals and removes meanwhile are not reported as changed', async (t) => {
  const { sql } = await testDatabase(t)
  const id = await filled(sql, 'busy', [])
  const work = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      for (const age of [30, 1]) await recordChange(sql, sampleEntry(id, { created_at: daysAgo(age) }))
      await createSealer({ database: sql }).reconcile(signal)
      await createPruner({ database: sql, clock, days: 7 }).reconcile(signal)
    }
  }
  const state = { done: false }
  const working = work().finally(() => {
    state.done = true
  })
  while (!state.done) for (const one of await verifyAll(sql)) assert.ok(one.state.intact)
  await working
})
