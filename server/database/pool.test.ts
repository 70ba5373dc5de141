import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import test, { after } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { databaseErrorToAppError } from './database-error.ts'
import { findFarewell } from './driver-socket.ts'
import { openDatabase, splitUrl } from './pool.ts'
import { temporaryDirectory } from './test-support.ts'
import { testDatabase } from './testing.ts'

const { sql, url } = await testDatabase({ after })

test('values come back as the types that stores expect', async () => {
  const at = new Date('2026-02-03T04:05:06.789Z')
  const [row] = await sql`
    select ${2 ** 53 - 1}::bigint as bigint, count(*) as count, ${at}::timestamptz as at,
    ${sql.json({ a: [1, null] })}::jsonb as json,
      ${['a', 'b,"c']}::text[] as texts, ${null}::text as nothing, ${Buffer.from([0, 255])}::bytea as bytes
    from generate_series(1, 3)`
  assert.deepEqual(
    { ...row },
    {
      bigint: 2 ** 53 - 1,
      count: 3,
      at,
      json: { a: [1, null] },
      texts: ['a', 'b,"c'],
      nothing: null,
      bytes: Buffer.from([0, 255]),
    },
  )
})

test('a bigint beyond 2^53 is an error instead of another number', async () => {
  await assert.rejects(sql`select 9007199254740993::bigint`, /9007199254740993 is too large/)
  assert.equal((await sql`select 1 as one`).length, 1)
})

test('undefined is not a value', async () => {
  const missing: { text: string } = JSON.parse('{}')
  await assert.rejects(sql`select ${missing.text}::text`, { code: 'UNDEFINED_VALUE' })
})

test('the connections carry a name and a limit for statements', async (t) => {
  const db = openDatabase({ url, name: 'somebody', statementTimeoutMs: 50, max: 1 })
  t.after(() => db.end())
  const [row] = await db`select current_setting('application_name') as name`
  assert.equal(row?.['name'], 'somebody')
  const error = await db`select pg_sleep(10)`.catch((thrown: unknown) => thrown)
  assert.equal(databaseErrorToAppError(error)?.code, 'unavailable')
})

test('a pool continues after all its connections were ended', async (t) => {
  const db = openDatabase({ url, max: 2, name: 'ended' })
  t.after(() => db.end())
  await Promise.all([db`select pg_sleep(0.01)`, db`select pg_sleep(0.01)`])
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'ended'`
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => db`select 1`))
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(databaseErrorToAppError(result.reason)?.code, 'unavailable')
  }
  assert.equal((await db`select 1`).length, 1)
})

test('a final error of PostgreSQL is distinguished from other messages', () => {
  const message = (type: string, ...fields: string[]): Buffer => {
    const body = Buffer.from(`${fields.join('\0')}\0\0`)
    const head = Buffer.alloc(5, type)
    head.writeUInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const row = message('D', 'VFATAL')
  const fatal = message('E', 'SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection')
  const found = findFarewell(Buffer.concat([row, fatal]))
  assert.deepEqual(found?.before, row)
  assert.deepEqual(
    { ...found?.error, message: found?.error.message },
    { code: '57P01', message: 'terminating connection' },
  )
  assert.equal(findFarewell(fatal)?.before.length, 0)
  assert.deepEqual(findFarewell(Buffer.concat([row.subarray(3), fatal]))?.before, row.subarray(3))
  assert.equal(findFarewell(message('E', 'SERROR', 'VERROR', 'C22P02', 'MVFATAL')), undefined)
  assert.equal(findFarewell(row), undefined)
  assert.equal(findFarewell(fatal.subarray(0, -1)), undefined)
  assert.equal(findFarewell(Buffer.concat([fatal, row])), undefined)
})

test('a database that refuses the connection says so', async (t) => {
  const db = openDatabase({ url: url.replace(/test_\w+/, 'nowhere') })
  t.after(() => db.end())
  const error = await db`select 1`.catch((thrown: unknown) => thrown)
  assert.match(databaseErrorToAppError(error)?.message ?? '', /check user, password and database name/)
})

test('while PostgreSQL is away every waiting query fails soon, as unavailable', async (t) => {
  const directory = await temporaryDirectory(t)
  const away = [
    `postgres://quayside@localhost/x?host=${encodeURIComponent(directory)}`,
    'postgres://quayside@127.0.0.1:9/x',
  ]
  for (const one of away) await assertFailsSoon(one)
})

test('a server that closes the connection without a word is away too', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  await assertFailsSoon(`postgres://quayside@127.0.0.1:${address.port}/x`)
})

async function assertFailsSoon(to: string): Promise<void> {
  const db = openDatabase({ url: to })
  const startedAt = systemClock.monotonic()
  const queries = Array.from({ length: 500 }, () => db`select 1`)
  const transactions = Array.from({ length: 20 }, () => db.begin((inside) => inside`select 1`))
  const results = await Promise.allSettled([...queries, ...transactions])
  assert.ok(systemClock.monotonic() - startedAt < 20_000, `${to}: ${systemClock.monotonic() - startedAt} ms`)
  for (const result of results) {
    assert.ok(result.status === 'rejected')
    assert.equal(databaseErrorToAppError(result.reason)?.code, 'unavailable', String(result.reason))
  }
  await db.end()
}

test("the socket's directory is taken out of the URL", () => {
  assert.deepEqual(splitUrl('postgres://me@localhost/db?host=%2Frun%2Fx&sslmode=disable'), {
    url: 'postgres://me@localhost/db?sslmode=disable',
    socket: '/run/x',
  })
  assert.equal(splitUrl('postgres://me:pw@db.example:5433/db').socket, undefined)
})
