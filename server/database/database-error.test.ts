import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { AppError } from '../lib/error.ts'
import type { Database } from './database.ts'
import { databaseErrorToAppError, isUniqueViolation, violatedConstraint } from './database-error.ts'
import { testDatabase } from './testing.ts'

const { sql } = await testDatabase({ after })
await sql`create table parent (id int primary key)`
await sql`create table child (parent_id int not null constraint child_parent references parent, size int check (size
  > 0))`
await sql`insert into parent values (1)`

const failure = (query: (sql: Database) => Promise<unknown>): Promise<unknown> =>
  query(sql).then(
    () => assert.fail('the statement succeeded'),
    (error: unknown) => error,
  )
const raised = (code: string) =>
  failure((db) => db.unsafe(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`))

const cases: readonly [string, (sql: Database) => Promise<unknown>, string | undefined][] = [
  ['U+0000 in a text', (db) => db`select ${'a\0b'}::text`, 'invalid'],
  ['U+0000 in a document', (db) => db`select ${db.json({ a: '\0' })}::jsonb`, 'invalid'],
  ['an id that is none', (db) => db`select ${'x'}::uuid`, 'invalid'],
  ['a number out of range', (db) => db`select ${2 ** 40}::int8::int4`, 'invalid'],
  ['a duplicate', (db) => db`insert into parent values (1)`, 'conflict'],
  ['a reference to nothing', (db) => db`insert into child values (2, 1)`, 'conflict'],
  ['a violated check', (db) => db`insert into child values (1, 0)`, undefined],
  ['a missing value', (db) => db`insert into child values (null, 1)`, undefined],
  ['a wrong statement', (db) => db`select * from nowhere`, undefined],
]
for (const [name, query, code] of cases) {
  test(`${name}: ${code ?? 'a bug'}`, async () => {
    assert.equal(databaseErrorToAppError(await failure(query))?.code, code)
  })
}

test('a socket that closed under the driver is unavailable too', () => {
  for (const code of ['ERR_SOCKET_CLOSED', 'ERR_STREAM_DESTROYED', 'EAGAIN', 'ECONNRESET']) {
    const error = Object.assign(new Error('gone'), { code, query: 'select' })
    assert.equal(databaseErrorToAppError(error)?.code, 'unavailable', code)
    assert.equal(databaseErrorToAppError(Object.assign(new Error('elsewhere'), { code })), undefined)
  }
})

test('temporary conditions are unavailable', async () => {
  for (const code of ['40001', '40P01', '57014', '57P01', '57P03', '53100', '53300', '08006', '55P03']) {
    assert.equal(databaseErrorToAppError(await raised(code))?.code, 'unavailable', code)
  }
})

test('details contain the name of the constraint, but no values', async () => {
  const error = await failure((db) => db`insert into child values (77, 1)`)
  const mapped = databaseErrorToAppError(error)
  assert.deepEqual(mapped?.details, { code: '23503', constraint: 'child_parent', table: 'child' })
  assert.doesNotMatch(mapped?.message ?? '', /77/)
  assert.equal(mapped?.cause, error)
  assert.equal(violatedConstraint(error), 'child_parent')
  assert.equal(isUniqueViolation(error), false)
  assert.equal(isUniqueViolation(await failure((db) => db`insert into parent values (1)`)), true)
})

test('errors from elsewhere are not converted', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  for (const error of [refused, new AppError('notFound', 'no'), new Error('23505'), 'text', undefined]) {
    assert.equal(databaseErrorToAppError(error), undefined)
  }
})
