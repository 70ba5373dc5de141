import assert from 'node:assert/strict'
import test from 'node:test'
import { silentLogger } from '../lib/log.ts'
import type { Database } from './database.ts'
import { checksumOf, type Migration, migrate, pendingMigrations, readMigrations } from './migrate.ts'
import { openDatabase } from './pool.ts'
import { until } from './test-support.ts'
import { emptyDatabase } from './testing.ts'

const migration = (name: string, text: string): Migration => ({ name, text })
const one = migration('0001_one.sql', 'create table one (id int); insert into one values (1);')
const two = migration('0002_two.sql', '-- a comment; with a semicolon\nalter table one add column name text;')
const run = (db: Database, ...migrations: Migration[]) => migrate(db, { log: silentLogger, migrations })
const applied = (...migrations: Migration[]) =>
  migrations.map((each) => ({ name: each.name, checksum: checksumOf(each) }))

test('only migrations that are not applied are pending', () => {
  assert.deepEqual(pendingMigrations([one, two], [], 'it'), [one, two])
  assert.deepEqual(pendingMigrations([one, two], applied(one), 'it'), [two])
  assert.deepEqual(pendingMigrations([one, two], applied(one, two), 'it'), [])
})

test('a database of a newer version is rejected with a solution', () => {
  assert.throws(() => pendingMigrations([one], applied(one, two), 'the database "x"'), {
    code: 'unavailable',
    message: /the database "x" was used by a newer Quayside.*0002_two\.sql.*QUAYSIDE_DATABASE_URL.*data directory/,
  })
})

test('a migration that was changed after it was applied is rejected', () => {
  const changed = migration(one.name, `${one.text} `)
  assert.throws(() => pendingMigrations([changed], applied(one), 'it'), {
    code: 'unavailable',
    message: /0001_one\.sql was changed/,
  })
})

test('a migration before an applied one is rejected', () => {
  assert.throws(() => pendingMigrations([one, two], applied(two), 'it'), {
    message: /0001_one\.sql is missing.*0002_two\.sql/,
  })
})

test('concurrent servers apply migrations once and in order', async (t) => {
  const { sql, url } = await emptyDatabase(t)
  const others = [1, 2, 3].map(() => openDatabase({ url, max: 2 }))
  t.after(async () => void (await Promise.all(others.map((db) => db.end()))))
  const names = await Promise.all([sql, ...others].map((db) => run(db, one, two)))
  assert.deepEqual(names.flat().sort(), [one.name, two.name])
  assert.equal((await sql`select from one`).length, 1)
  assert.deepEqual(await run(sql, one, two), [])
})

test('a failed migration leaves nothing behind', async (t) => {
  const { sql } = await emptyDatabase(t)
  const broken = migration('0002_broken.sql', 'create table two (id int); select nonsense;')
  await assert.rejects(run(sql, one, broken), /migration 0002_broken\.sql failed/)
  assert.deepEqual(
    (await sql`select name from schema_migration`).map(({ name }) => name),
    [one.name],
  )
  assert.equal((await sql`select from pg_tables where tablename = 'two'`).length, 0)
  assert.deepEqual(await run(sql, one, two), [two.name])
})

test('a migrator that is killed halfway leaves nothing, and the next one continues', async (t) => {
  const { sql, url } = await emptyDatabase(t)
  const slow = migration('0001_slow.sql', 'create table slow (id int); select pg_sleep(60);')
  const db = openDatabase({ url, name: 'killed migrator', max: 1 })
  t.after(() => db.end())
  const killed = assert.rejects(run(db, slow))
  await until('the migrator was killed', async () => {
    const rows = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'killed migrator' and query like '%pg_sleep%'`
    return rows.length > 0
  })
  await killed
  assert.deepEqual(await run(sql, one), [one.name])
  assert.equal((await sql`select from pg_tables where tablename = 'slow'`).length, 0)
})

test('a database that cannot store every text is rejected', async (t) => {
  const { sql } = await emptyDatabase(t, `encoding 'SQL_ASCII' locale_provider libc locale 'C' template template0`)
  await assert.rejects(run(sql, one), { code: 'unavailable', message: /encoding SQL_ASCII/ })
  assert.equal((await sql`select from pg_tables where tablename in ('one', 'schema_migration')`).length, 0)
})

test("the product's own migrations are numbered without gaps", async () => {
  const numbers = (await readMigrations()).map(({ name }) => Number(/^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]))
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  )
})
