import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { openDatabase } from './pool.ts'
import { type Cleanup, startTestServer, testDatabase } from './testing.ts'

test('each test has its own migrated database, which is removed with it', async (t) => {
  const cleanups: (() => Promise<void>)[] = []
  const cleanup: Cleanup = { after: (work) => void cleanups.push(work) }
  const one = await testDatabase(cleanup)
  const startedAt = systemClock.monotonic()
  const other = await testDatabase(cleanup)
  t.diagnostic(`a copy took ${Math.round(systemClock.monotonic() - startedAt)} ms`)
  await one.sql`insert into setting values ('mine', '1')`
  assert.equal((await one.sql`select from setting`).length, 1)
  assert.equal((await other.sql`select from setting`).length, 0)
  const [{ name } = { name: '' }] = await one.sql<{ name: string }[]>`select current_database() as name`
  for (const work of cleanups) await work()
  const admin = openDatabase({ url: (await startTestServer()).url, max: 1 })
  t.after(() => admin.end())
  assert.equal((await admin`select from pg_database where datname = ${name}`).length, 0)
})
