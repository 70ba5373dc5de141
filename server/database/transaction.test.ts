import assert from 'node:assert/strict'
import test, { after, beforeEach } from 'node:test'
import type { Sql } from './database.ts'
import { openDatabase } from './pool.ts'
import { until } from './test-support.ts'
import { testDatabase } from './testing.ts'
import { inTransaction } from './transaction.ts'

const { sql: db, url } = await testDatabase({ after })
const other = openDatabase({ url, name: 'other' })
after(() => other.end())
await db`create table line (text text)`
beforeEach(async () => {
  await db`truncate line`
})

const write = (sql: Sql, text: string) => sql`insert into line values (${text})`
const lines = async (): Promise<string[]> => (await other`select text from line order by text`).map(({ text }) => text)
const raise = (sql: Sql, code: string) =>
  sql.unsafe(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`)

async function backend(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  assert.ok(row)
  return row.pid
}

/** Ends a connection from the server's side and waits until the pool has noticed. */
async function cut(pid: number): Promise<void> {
  await other`select pg_terminate_backend(${pid})`
  await until('the connection is gone', async () => {
    const rows = await other`select from pg_stat_activity where pid = ${pid}`
    return rows.length === 0
  })
  await Promise.all(Array.from({ length: 8 }, () => db`select pg_sleep(0.01)`.catch(() => {})))
}

test('returns the result of the work, and arrays unchanged', async () => {
  const pending = Promise.withResolvers<void>()
  assert.deepEqual(await inTransaction(db, async (sql) => [(await write(sql, 'a')).count, pending]), [1, pending])
  assert.deepEqual(await lines(), ['a'])
})

test('rolls back and rethrows when the work fails', async () => {
  const failure = new Error('not now')
  const work = inTransaction(db, async (sql) => {
    await write(sql, 'a')
    throw failure
  })
  await assert.rejects(work, (error) => error === failure)
  assert.deepEqual(await lines(), [])
})

test('where PostgreSQL gives way the work runs again, five times at most', async () => {
  for (const code of ['40001', '40P01']) {
    let runs = 0
    await inTransaction(db, async (sql) => {
      await write(sql, code)
      if (++runs < 5) await raise(sql, code)
    })
    assert.equal(runs, 5)
  }
  assert.deepEqual(await lines(), ['40001', '40P01'])
  let runs = 0
  const hopeless = inTransaction(db, async (sql) => {
    runs++
    await raise(sql, '40001')
  })
  await assert.rejects(hopeless, { code: '40001' })
  assert.equal(runs, 5)
})

test('does not retry other errors', async () => {
  let runs = 0
  const work = inTransaction(db, async (sql) => {
    runs++
    await raise(sql, '23505')
  })
  await assert.rejects(work, { code: '23505' })
  assert.equal(runs, 1)
})

test('completes two transactions that deadlock', async () => {
  await write(db, 'x')
  await write(db, 'y')
  const both = Promise.withResolvers<void>()
  let holding = 0
  const swap = (mine: string, theirs: string) =>
    inTransaction(db, async (sql) => {
      await sql`update line set text = text where text = ${mine}`
      if (++holding === 2) both.resolve()
      await both.promise
      await sql`update line set text = text where text = ${theirs}`
      return mine
    })
  assert.deepEqual(await Promise.all([swap('x', 'y'), swap('y', 'x')]), ['x', 'y'])
  assert.ok(holding > 2, 'no deadlock happened')
})

test('sends nothing more after its connection was lost', async () => {
  const work = inTransaction(db, async (sql) => {
    await write(sql, 'before')
    await cut(await backend(sql))
    await write(sql, 'after')
  })
  await assert.rejects(work, { code: 'CONNECTION_CLOSED' })
  assert.deepEqual(await lines(), [])
})

test('writes nothing if the work continues after the loss was reported', async () => {
  const refused = Promise.withResolvers<unknown>()
  const work = inTransaction(db, async (sql) => {
    await write(sql, 'before')
    const pid = await backend(sql)
    const sleeping = sql`select pg_sleep(10)`.catch(() => write(sql, 'at once')).catch(refused.resolve)
    await cut(pid)
    await sleeping
    await write(sql, 'later')
  })
  await assert.rejects(work, { code: 'CONNECTION_CLOSED' })
  assert.match(String(await refused.promise), /transaction is over/)
  await db`select 1`
  assert.deepEqual(await lines(), [])
})

test('does not count as committed if the work ends after its connection was lost', async () => {
  const work = inTransaction(db, async (sql) => {
    await write(sql, 'a')
    await cut(await backend(sql))
  })
  await assert.rejects(work, { code: 'CONNECTION_CLOSED' })
  assert.deepEqual(await lines(), [])
})

test('is not affected by the loss of another connection', async () => {
  const bystanderWrote = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<void>()
  const bystander = inTransaction(db, async (sql) => {
    await write(sql, 'one')
    bystanderWrote.resolve()
    await lost.promise
    await write(sql, 'two')
  })
  await bystanderWrote.promise
  await assert.rejects(inTransaction(db, async (sql) => cut(await backend(sql))))
  lost.resolve()
  await bystander
  assert.deepEqual(await lines(), ['one', 'two'])
})

test('rejects statements after its end', async () => {
  const leaked = await inTransaction(db, async (sql) => ({ sql }))
  assert.throws(() => leaked.sql`select 1`, /transaction is over/)
  assert.throws(() => leaked.sql.unsafe('select 1'), /transaction is over/)
})

test('a savepoint rolls back its own part', async () => {
  await db.begin(async (sql) => {
    await write(sql, 'kept')
    await assert.rejects(
      sql.savepoint(async (inner) => {
        await write(inner, 'undone')
        throw new Error('no')
      }),
    )
  })
  assert.deepEqual(await lines(), ['kept'])
})
