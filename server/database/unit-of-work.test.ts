import assert from 'node:assert/strict'
import test, { after, beforeEach } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import type { Sql } from './database.ts'
import { openDatabase } from './pool.ts'
import { until } from './test-support.ts'
import { testDatabase } from './testing.ts'
import { cutDatabase } from './testing-proxy.ts'
import { inTransaction } from './transaction.ts'
import { afterCommit, unitOfWork } from './unit-of-work.ts'

const { sql: db, url } = await testDatabase({ after })
const other = openDatabase({ url, name: 'other' })
after(() => other.end())
await db`create table line (text text)`
beforeEach(async () => {
  await db`truncate line`
})

const write = (sql: Sql, text: string) => sql`insert into line values (${text})`
const linesOf = async (sql: Sql): Promise<string[]> =>
  (await sql`select text from line order by text`).map(({ text }) => text)
const lines = (): Promise<string[]> => linesOf(other)

async function backend(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  assert.ok(row)
  return row.pid
}

test('statements and transactions of one unit are one transaction, in any function', async () => {
  const result = await unitOfWork(db, async () => {
    await write(db, 'a')
    await inTransaction(db, async (sql) => {
      await write(sql, 'b')
      await inTransaction(db, (inner) => write(inner, 'c'))
    })
    await db.begin((sql) => write(sql, 'd'))
    await unitOfWork(db, () => write(db, 'e'))
    await db.unsafe(`insert into line values ('f')`)
    await db`insert into ${db('line')} select * from jsonb_to_recordset(${db.json([{ text: 'g' }])}) as l(text text)`
    assert.deepEqual(await lines(), [])
    return linesOf(db)
  })
  assert.deepEqual(result, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  assert.deepEqual(await lines(), result)
})

test('a failure rolls back everything and is rethrown', async () => {
  const failure = new Error('not now')
  const work = unitOfWork(db, async () => {
    await write(db, 'a')
    await inTransaction(db, (sql) => write(sql, 'b'))
    throw failure
  })
  await assert.rejects(work, (error) => error === failure)
  assert.deepEqual(await lines(), [])
})

test('a part that failed undoes everything, also where its error was caught', async () => {
  const part = unitOfWork(db, async () => {
    await write(db, 'a')
    await inTransaction(db, async (sql) => {
      await write(sql, 'b')
      throw new Error('no part')
    }).catch(() => {})
  })
  await assert.rejects(part, /no part/)
  const statement = unitOfWork(db, async () => {
    await write(db, 'a')
    await db`select 1 / 0`.catch(() => {})
  })
  await assert.rejects(statement, { code: '22012' })
  assert.deepEqual(await lines(), [])
})

test('concurrent statements and parallel transactions take part', async () => {
  await unitOfWork(db, async () => {
    const pids = await Promise.all([
      ...Array.from({ length: 10 }, () => backend(db)),
      inTransaction(db, backend),
      inTransaction(db, backend),
    ])
    assert.equal(new Set(pids).size, 1)
    await Promise.all(['a', 'b', 'c'].map((text) => inTransaction(db, (sql) => write(sql, text))))
  })
  assert.deepEqual(await lines(), ['a', 'b', 'c'])
})

test('where PostgreSQL gives way the whole runs again, also behind another error, and tells others once', async () => {
  let runs = 0
  const told: number[] = []
  await unitOfWork(db, async () => {
    const run = ++runs
    afterCommit(() => told.push(run))
    await write(db, `run ${run}`)
    await inTransaction(db, (sql) =>
      run < 5 ? sql.unsafe(`do $$ begin raise exception 'no' using errcode = '40P01'; end $$`) : write(sql, 'end'),
    ).catch((cause) => {
      throw new Error('other words', { cause })
    })
  })
  assert.equal(runs, 5)
  assert.deepEqual(told, [5])
  assert.deepEqual(await lines(), ['end', 'run 5'])
})

test('notifications run after the commit and outside the unit, never after a rollback, and at once without a unit', async () => {
  const told: string[] = []
  let seen: Promise<string[]> | undefined
  await unitOfWork(db, async () => {
    await write(db, 'a')
    afterCommit(() => {
      told.push('committed')
      seen = inTransaction(db, linesOf)
    })
    assert.deepEqual(told, [])
  })
  assert.deepEqual(await seen, ['a'])
  const undone = unitOfWork(db, async () => {
    afterCommit(() => told.push('never'))
    throw new Error('undone')
  })
  await assert.rejects(undone)
  afterCommit(() => told.push('at once'))
  assert.deepEqual(told, ['committed', 'at once'])
})

test('work that was begun elsewhere does not take part, even where the unit wakes it', async () => {
  const wake = Promise.withResolvers<void>()
  const background = wake.promise.then(() => write(db, 'background')).then(() => backend(db))
  const written = Promise.withResolvers<void>()
  void background.then(() => written.resolve())
  const undone = unitOfWork(db, async () => {
    await write(db, 'unit')
    wake.resolve()
    await written.promise
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.deepEqual(await lines(), ['background'])
})

test('concurrent units are separate transactions, and another pool takes no part', async () => {
  const [both, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let [inside, looked] = [0, 0]
  const unit = (text: string) =>
    unitOfWork(db, async () => {
      await write(db, text)
      if (++inside === 2) both.resolve()
      await both.promise
      assert.deepEqual(await linesOf(db), [text])
      assert.deepEqual(await lines(), [])
      if (++looked === 2) done.resolve()
      await done.promise
      return backend(db)
    })
  const [first, second] = await Promise.all([unit('a'), unit('b')])
  assert.notEqual(first, second)
  assert.deepEqual(await lines(), ['a', 'b'])
})

test('work that continues after the unit failed cannot send statements', async () => {
  const refused = Promise.withResolvers<unknown>()
  const failed = Promise.withResolvers<void>()
  const undone = unitOfWork(db, () => {
    const slow = write(db, 'in time')
      .then(() => failed.promise)
      .then(() => write(db, 'too late'))
    slow.then(refused.resolve, refused.resolve)
    const quick = write(db, 'quick').then(() => {
      setImmediate(() => setImmediate(failed.resolve))
      throw new Error('failed')
    })
    return Promise.all([slow, quick])
  })
  await assert.rejects(undone, /failed/)
  assert.match(String(await refused.promise), /transaction is over/)
  assert.deepEqual(await lines(), [])
})

test('a unit whose connection was lost sends nothing more and does not count as committed', async () => {
  const told: string[] = []
  for (const after of [() => write(db, 'after'), () => Promise.resolve()]) {
    const work = unitOfWork(db, async () => {
      afterCommit(() => told.push('committed'))
      await write(db, 'before')
      const pid = await backend(db)
      await other`select pg_terminate_backend(${pid})`
      await until('the connection is gone', async () => {
        const rows = await other`select from pg_stat_activity where pid = ${pid}`
        return rows.length === 0
      })
      await db`select 1`.catch(() => {})
      await after()
    })
    await assert.rejects(work, { code: 'CONNECTION_CLOSED' })
  }
  assert.deepEqual([await lines(), told], [[], []])
  await unitOfWork(db, () => write(db, 'again'))
  assert.deepEqual(await lines(), ['again'])
})

test('a committed unit whose answer is lost is not run again and does not count as committed', async (t) => {
  const way = await cutDatabase(t, url)
  let [runs, told] = [0, 0]
  way.loseCommits(1)
  const work = unitOfWork(way.sql, async () => {
    runs++
    afterCommit(() => told++)
    await write(way.sql, 'committed')
  })
  await assert.rejects(work, { code: 'CONNECTION_CLOSED' })
  assert.deepEqual([runs, told, way.commitsToLose()], [1, 0, 0])
  assert.deepEqual(await lines(), ['committed'])
  await unitOfWork(way.sql, () => write(way.sql, 'next'))
  assert.deepEqual(await lines(), ['committed', 'next'])
})

test('reads work while the maximum number of units run', async () => {
  const held = Promise.withResolvers<void>()
  let inside = 0
  const units = Array.from({ length: 8 }, () =>
    unitOfWork(db, async () => {
      await write(db, 'unit')
      inside++
      await held.promise
    }),
  )
  await until('six units are under way', () => inside === 6)
  assert.deepEqual(await linesOf(db), [])
  held.resolve()
  await Promise.all(units)
  assert.equal((await lines()).length, 8)
})

test('notifications of PostgreSQL are sent with the commit of a unit', async () => {
  const heard: string[] = []
  const { unlisten } = await other.listen('unit', (payload) => void heard.push(payload))
  const undone = unitOfWork(db, async () => {
    await db.notify('unit', 'undone')
    throw new Error('undone')
  })
  await assert.rejects(undone)
  await unitOfWork(db, () => db.notify('unit', 'kept'))
  await until('it is heard', () => heard.length > 0)
  await unlisten()
  assert.deepEqual(heard, ['kept'])
})

test('an owner whose units wait for a lock leaves connections to others', async () => {
  await write(db, 'locked')
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = other.begin(async (sql) => {
    await sql`select from line for update`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const waiting = Array.from({ length: 50 }, () =>
    unitOfWork(db, () => db`select from line where text = 'locked' for update`, { owner: 'one' }),
  )
  const isServed = unitOfWork(db, () => write(db, 'another'), { owner: 'another' }).then(() => true)
  const isLate = systemClock.sleep(5_000).then(() => false)
  try {
    assert.ok(await Promise.race([isServed, isLate]))
  } finally {
    release.resolve()
    await Promise.all([holding, isServed, ...waiting])
  }
})
