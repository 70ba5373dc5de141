import assert from 'node:assert/strict'
import test, { after } from 'node:test'
import { unitOfWork, withOwner, withoutOwner } from './index.ts'
import { openDatabase } from './pool.ts'
import { until } from './test-support.ts'
import { testDatabase } from './testing.ts'

const { sql: db, url } = await testDatabase({ after })
const holder = openDatabase({ url, name: 'holder', max: 2 })
after(() => holder.end())

/** Holds an advisory lock while `work` runs. */
async function holding(work: () => Promise<void>): Promise<void> {
  await holder.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(1)`
    await work()
  })
}
const waiting = async (): Promise<number> => {
  const rows = await holder`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  return rows.length
}
const slow = () => db`select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)`

test('a statement of an owner waits for the turn of its owner, and one of the platform for none', async () => {
  const ends: string[] = []
  const ask = (owner: string, work: () => PromiseLike<unknown>) =>
    withOwner(owner, async () => {
      await work()
      ends.push(owner)
    })
  let asked: Promise<unknown> = Promise.resolve()
  await holding(async () => {
    asked = Promise.all(Array.from({ length: 20 }, () => ask('a', slow)))
    await until('the owner holds all connections that it may have', async () => (await waiting()) === 4)
    asked = Promise.all([asked, ...Array.from({ length: 20 }, () => ask('c', slow))])
    await until('so does a second one', async () => (await waiting()) === 8)
    await ask('b', () => db`select 1`)
    await ask('b', () => db.unsafe('select 1'))
    await ask('b', () => db.begin((sql) => sql`select 1`))
    await ask('b', () => unitOfWork(db, async () => db`select 1`))
    await db`select 1`
    await withOwner('a', () => withoutOwner(async () => await db`select 1`))
    assert.equal(await waiting(), 8)
    assert.deepEqual(ends, ['b', 'b', 'b', 'b'])
  })
  await asked
  assert.equal(ends.length, 44)
})

test('a failed statement of an owner reports its error and gives its slot back', async () => {
  for (let attempt = 0; attempt < 8; attempt++) {
    await withOwner('a', () => assert.rejects(async () => await db`select 1 / 0`, /division by zero/))
  }
  const [row] = await withOwner('a', async () => await db<{ sum: number }[]>`select 1 + ${1}::int as sum`)
  assert.equal(row?.sum, 2)
})

test('transactions of an owner leave connections to another owner', async () => {
  let asked: Promise<unknown> = Promise.resolve()
  await holding(async () => {
    const wait = () => withOwner('a', () => db.begin((sql) => sql`select pg_advisory_xact_lock_shared(1)`))
    asked = Promise.all(Array.from({ length: 10 }, wait))
    await until('the owner holds all connections that it may have', async () => (await waiting()) === 4)
    await withOwner('b', () => db.begin((sql) => sql`select 1`))
    assert.equal(await waiting(), 4)
  })
  await asked
})
