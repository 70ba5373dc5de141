import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { atEnd } from '../../test/support/at-end.ts'
import { silentLogger as log } from '../lib/log.ts'
import { startEmbedded } from './embedded.ts'
import { migrate, readMigrations, schemaState } from './migrate.ts'
import { openDatabase } from './pool.ts'
import { reachableDirectory, until } from './test-support.ts'
import { tryMigrations } from './trial.ts'

const signal = AbortSignal.timeout(110_000)
const migrations = await readMigrations()
const later = migrations.filter(({ name }) => name >= '0030').map(({ name }) => name)
const data = await reachableDirectory({ after })
const [directory, trial] = [join(data, 'postgresql'), join(data, 'trial')]
const attempt = () => tryMigrations({ directory, trial, log, signal })

test('migrations are tried on a copy of a database in use, of a stopped one, and of none', async (t) => {
  assert.equal(await attempt(), undefined)
  const embedded = await startEmbedded({ directory, log, signal })
  atEnd(t, () => embedded.stop())
  const sql = openDatabase({ url: embedded.url, max: 3 })
  t.after(() => sql.end())
  await migrate(sql, { log, migrations: migrations.filter(({ name }) => name < '0030') })
  await sql`create table written (n int, filler text)`
  let writing = true
  let rows = 0
  const writer = (async () => {
    for (; writing; rows++) await sql`insert into written values (${rows}, ${'x'.repeat(2000)})`
  })()
  await until('there are rows', () => rows > 100)
  assert.deepEqual(await attempt(), later)
  writing = false
  await writer
  assert.deepEqual((await schemaState(sql)).pending, later)
  await assert.rejects(access(trial), { code: 'ENOENT' })
  // It conflicts with 0031.
  await sql`create function job_state(uuid, text) returns text language sql return 'in the way'`
  await assert.rejects(attempt(), /migration 0031_running_jobs\.sql failed/)
  assert.deepEqual((await schemaState(sql)).pending, later)
  await sql.end()
  await embedded.stop()
  await assert.rejects(attempt(), /migration 0031_running_jobs\.sql failed/)
  await assert.rejects(access(trial), { code: 'ENOENT' })
})
