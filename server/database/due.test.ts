import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fragment, Sql } from './database.ts'
import { createDueWatch, type DueReconciler } from './due.ts'
import { testDatabase } from './testing.ts'

const signal = AbortSignal.timeout(60_000)
const one = (name: string, due: (sql: Sql) => Fragment): DueReconciler => ({
  name,
  everyMs: 60_000,
  due,
  reconcile: async () => assert.fail('the watch runs nothing itself'),
})

test('one statement says which reconcilers have work', async (t) => {
  const statements: string[] = []
  const { sql } = await testDatabase(t, { onStatement: (text) => void statements.push(text) })
  await sql`create table task (due_at timestamptz)`
  let now = new Date(1000)
  const reminded: string[] = []
  const { reconcile } = createDueWatch({
    database: sql,
    reconcilers: () => [
      one('later', (db) => db`exists (select from task where due_at <= ${now})`),
      { name: 'without a condition', everyMs: 1, reconcile: async () => {} },
      one('never', (db) => db`false`),
      one('always', (db) => db`true or false`),
    ],
    remind: (name) => void reminded.push(name),
  })
  const look = async (): Promise<readonly string[]> => {
    statements.length = 0
    await reconcile(signal)
    assert.equal(statements.length, 1, statements.join('\n'))
    return reminded.splice(0).toSorted()
  }
  assert.deepEqual(await look(), ['always'])
  await sql`insert into task values (${new Date(2000)})`
  assert.deepEqual(await look(), ['always'])
  now = new Date(2000)
  assert.deepEqual(await look(), ['always', 'later'])
})

test('a condition that cannot be checked fails the watch, and none of it sends nothing', async (t) => {
  const statements: string[] = []
  const { sql } = await testDatabase(t, { onStatement: (text) => void statements.push(text) })
  const watch = (reconcilers: readonly DueReconciler[]) =>
    createDueWatch({ database: sql, reconcilers: () => reconcilers, remind: () => assert.fail('nothing is due') })
  await assert.rejects(watch([one('broken', (db) => db`no_such_column`)]).reconcile(signal), /no_such_column/)
  statements.length = 0
  await watch([]).reconcile(signal)
  assert.deepEqual(statements, [])
})
