import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import type postgres from 'postgres'
import { databaseErrorToAppError } from './database-error.ts'
import { openDatabase } from './pool.ts'
import { testDatabase } from './testing.ts'

const { url } = await testDatabase({ after })
/** One connection, so that the next statement follows the failed one. */
const pool = openDatabase({ url, max: 1, name: 'broken off' })
after(() => pool.end())

type Sender = postgres.Sql | postgres.TransactionSql
/** Returns three rows, then an error. */
const breaksOff = (sql: Sender) => sql`select 1 / (4 - n) from generate_series(1, 10) n`
/** Returns two rows, then the connection ends. */
const losesConnection = (sql: Sender) =>
  sql`select repeat('x', 100000), case when n = 3 then pg_terminate_backend(pg_backend_pid()) end
    from generate_series(1, 5) n`
const isUnavailable = (error: unknown): boolean => databaseErrorToAppError(error)?.code === 'unavailable'
const text = 'select n from generate_series(1, 2) n'
const ways = {
  statement: (sql: Sender) => sql`select n from generate_series(1, 2) n`,
  text: (sql: Sender) => sql.unsafe(text),
  'prepared text': (sql: Sender) => sql.unsafe(text, [], { prepare: true }),
}
const assertWhole = (rows: postgres.RowList<postgres.Row[]>): void => {
  assert.deepEqual([...rows], [{ n: 1 }, { n: 2 }])
  assert.deepEqual([rows.length, rows.count, rows.columns[0]?.name], [2, 2, 'n'])
}

for (const [way, send] of Object.entries(ways)) {
  test(`a ${way} after one that failed in the middle of its rows returns only its own rows`, async () => {
    const [failed, rows] = await Promise.allSettled([breaksOff(pool), send(pool)])
    assert.equal(failed.status, 'rejected')
    assert.ok(rows.status === 'fulfilled')
    assertWhole(rows.value)
    await assert.rejects(breaksOff(pool), /division by zero/)
    assertWhole(await send(pool))
  })

  test(`a ${way} on the connection after a lost one returns only its own rows`, async () => {
    await assert.rejects(losesConnection(pool), isUnavailable)
    assertWhole(await send(pool))
  })

  test(`a ${way} of a transaction returns only its own rows`, async () => {
    await assert.rejects(losesConnection(pool), isUnavailable)
    await pool.begin(async (sql) => {
      await assert.rejects(sql.savepoint(breaksOff), /division by zero/)
      assertWhole(await send(sql))
      await assert.rejects(sql.savepoint(breaksOff), /division by zero/)
      assertWhole(await sql.savepoint(send))
    })
  })
}
