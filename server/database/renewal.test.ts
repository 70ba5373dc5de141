import assert from 'node:assert/strict'
import test, { after, beforeEach } from 'node:test'
import { openDatabase, renewConnections, unitOfWork, withOwner } from './index.ts'
import { until } from './test-support.ts'
import { testDatabase } from './testing.ts'

const { sql: observer, url } = await testDatabase({ after })
const db = openDatabase({ url, name: 'renewed' })
after(() => db.end())

/** The process ids of the pool's connections. */
const backends = async (): Promise<number[]> =>
  (await observer<{ pid: number }[]>`select pid from pg_stat_activity where application_name = 'renewed'`).map(
    ({ pid }) => pid,
  )
const useAll = async (): Promise<void> => {
  const some = () => Promise.all(Array.from({ length: 12 }, async () => await db`select pg_sleep(0.01)`))
  await Promise.all([some(), withOwner('a', some), unitOfWork(db, async () => db`select 1`)])
}

beforeEach(useAll)

test('a renewal closes all connections, and the next statements open new ones', async () => {
  const before = await backends()
  renewConnections(db)
  await until('all connections are closed', async () => (await backends()).length === 0)
  await useAll()
  const now = await backends()
  assert.ok(now.length >= 3)
  assert.deepEqual(
    now.filter((pid) => before.includes(pid)),
    [],
  )
})

test('a renewal waits until a transaction has ended', async () => {
  const [before, inside] = await db.begin(async (sql) => {
    const [first] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    renewConnections(db)
    await db`select 1`
    const [second] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    return [first?.pid, second?.pid]
  })
  assert.equal(inside, before)
  await until('the connection of the transaction is closed', async () => !(await backends()).includes(before ?? 0))
  assert.equal((await db`select 1`).length, 1)
})

test('statements that were made before a renewal are sent after it', async () => {
  const made = [db`select 1 as one`, db.unsafe('select 1 as one')]
  const owned = withOwner('a', () => db`select 1 as one`)
  renewConnections(db)
  await until('all connections are closed', async () => (await backends()).length === 0)
  for (const statement of [...made, owned]) assert.deepEqual([...(await statement)], [{ one: 1 }])
})

test('no statement fails while connections are renewed', async () => {
  let answered = 0
  const ask = async (owner: string): Promise<void> => {
    for (let turn = 0; turn < 100; turn++) {
      const [row] = await withOwner(owner, () => unitOfWork(db, async () => await db`select ${turn}::int as turn`))
      const [other] = await withOwner(owner, async () => await db`select ${turn}::int as turn`)
      const [own] = await db`select ${turn}::int as turn`
      assert.deepEqual([row?.['turn'], other?.['turn'], own?.['turn']], [turn, turn, turn])
      answered++
      if (turn % 10 === 0) renewConnections(db)
    }
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(ask))
  assert.equal(answered, 400)
})

test('a failed statement does not prevent a renewal', async () => {
  const before = await backends()
  const failed = assert.rejects(async () => await db`select 1 / 0`, /division by zero/)
  renewConnections(db)
  await failed
  await until('all connections are replaced', async () => !(await backends()).some((pid) => before.includes(pid)))
})

test('the end of a pool that was renewed closes its connections', async () => {
  const other = openDatabase({ url, name: 'ended' })
  await other`select 1`
  renewConnections(other)
  await other`select 1`
  await other.end()
  await assert.rejects(async () => await other`select 1`, { code: 'CONNECTION_ENDED' })
})
