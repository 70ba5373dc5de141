import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { start as startProcess } from '../lib/run.ts'
import { ended, readSteps, readWorkflow, submit, type TestWorkflows, testWorkflows, until } from './testing.ts'
import { createTables, deadlyPoints, recipes, type WorkerOptions } from './testing-worker.ts'
import { createWorkflows } from './workflows.ts'

const program = fileURLToPath(new URL('testing-worker.ts', import.meta.url))

interface Worker {
  readonly child: ChildProcess
  readonly exited: Promise<void>
}

function startWorker(t: TestContext, options: WorkerOptions): Worker {
  const child = startProcess(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const exited = new Promise<void>((done) => void child.on('close', () => done()))
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, exited }
}

/** Only submits. */
const submitter = ({ sql }: TestWorkflows) =>
  createWorkflows({ database: sql, workflows: [], clock: systemClock, log: silentLogger, maxRunning: 0 })

/**
 * Starts a new worker whenever the last one died, until the workflow has ended. Returns the number
 * of workers.
 */
async function workUntilEnded(t: TestContext, db: TestWorkflows, id: string, options: Partial<WorkerOptions>[]) {
  let started = 0
  for (;;) {
    const worker = startWorker(t, { url: db.url, ...(options[started] ?? options.at(-1)) })
    started++
    const row = await Promise.race([worker.exited, ended(db.sql, id, 100_000)])
    if (row) return { row, started }
  }
}

test('reaches the same end when it is killed at every point', { timeout: 110_000 }, async (t) => {
  const db = await testWorkflows(t)
  await createTables(db.sql)
  for (const point of deadlyPoints) await db.sql`insert into kill_at values (${point})`
  const id = await submit(db.sql, submitter(db), 'deadly')
  // A test that waited for a lease to end would exceed its timeout.
  const options = [{ failpoint: 'workflow.claimed:kill', leaseSeconds: 3600 }, { leaseSeconds: 3600 }]
  const { row, started } = await workUntilEnded(t, db, id, options)
  assert.deepEqual([row.state, row.error], ['done', null])
  assert.equal(started, deadlyPoints.length + 2)
  const runs = await db.sql`select step, count(*)::int as runs from run group by step order by step`
  // Two kills are inside each step. Kills before and after a step do not run it again.
  assert.deepEqual(
    [...runs],
    ['a', 'b', 'c'].map((step) => ({ step, runs: 3 })),
  )
  assert.equal((await db.sql`select from effect`).length, 3)
  assert.deepEqual(
    (await readSteps(db.sql, id)).map(({ status }) => status),
    ['SUCCESS', 'SUCCESS', 'SUCCESS'],
  )
})

test('parks a workflow that kills every process, and continues with the next', { timeout: 60_000 }, async (t) => {
  const db = await testWorkflows(t)
  await createTables(db.sql)
  const engine = submitter(db)
  const poison = await submit(db.sql, engine, 'poison', { key: 'k' })
  const next = await submit(db.sql, engine, 'harmless', { key: 'k' })
  const { row, started } = await workUntilEnded(t, db, next, [{ maxAttempts: 3 }])
  assert.equal(row.state, 'done')
  assert.equal(started, 4)
  const parked = await readWorkflow(db.sql, poison)
  assert.deepEqual([parked.state, parked.error], ['parked', 'gave up after 3 attempts'])
})

test('two processes, one killed: everything is done, in order, one at a time per key', {
  timeout: 60_000,
}, async (t) => {
  const db = await testWorkflows(t)
  await createTables(db.sql)
  const engine = submitter(db)
  const workers = [startWorker(t, { url: db.url }), startWorker(t, { url: db.url })]
  const ids: string[] = []
  for (let n = 0; n < 300; n++) {
    const key = `key${n % 30}`
    ids.push(await submit(db.sql, engine, 'locked', { key, input: `${key} ${n}` }))
  }
  await db.sql.notify('workflow', 'work test')
  await until('both at work', async () => {
    const [row] = await db.sql<{ runs: number; pids: number }[]>`
      select count(*)::int as runs, count(distinct pid)::int as pids from run`
    return row !== undefined && row.pids === 2 && row.runs > 80
  })
  workers[0]?.child.kill('SIGKILL')
  for (const id of ids) assert.equal((await ended(db.sql, id)).state, 'done')
  assert.equal((await db.sql`select from overlap`).length, 0)
  const rows = await db.sql<{ key: string; numbers: number[] }[]>`
    select key, array_agg(number order by n) as numbers from (
      select key, number, max(n) as n from run group by key, number
    ) as last group by key`
  assert.equal(rows.length, 30)
  for (const { numbers } of rows)
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    )
  const twice = await db.sql`select from workflow where fence > 1`
  t.diagnostic(`${twice.length} of 300 were taken over`)
  assert(twice.length <= 8)
})

test('a stopped process that wakes after a take-over writes nothing', { timeout: 60_000 }, async (t) => {
  const db = await testWorkflows(t)
  await createTables(db.sql)
  const { child } = startWorker(t, { url: db.url, leaseSeconds: 60 })
  const id = await submit(db.sql, submitter(db), 'gated')
  await until('step', async () => (await readSteps(db.sql, id)).length === 1)
  child.kill('SIGSTOP')
  const engine = db.start(recipes(db.sql, false))
  await submit(db.sql, engine, 'harmless').then((other) => ended(db.sql, other))
  assert.equal((await readWorkflow(db.sql, id)).fence, '1')
  await db.sql`update workflow set lease_until = now() where id = ${id}`
  assert.equal((await ended(db.sql, id)).state, 'done')
  const read = async () => [
    ...(await db.sql`select w::text from workflow w`),
    ...(await db.sql`select s::text from workflow_step s`),
    ...(await db.sql`select step from effect`),
  ]
  const before = await read()
  await db.sql`insert into gate values ('go')`
  child.kill('SIGCONT')
  const pid = String(child.pid)
  const note = await until('the woken one to be refused', async () => {
    const rows = await db.sql<{ text: string }[]>`select text from note where text like ${`${pid} %`}`
    return rows[0]?.text
  })
  assert.equal(note, `${pid} refused 3 of 3`)
  assert.deepEqual(await read(), before)
})

test('is taken over from a stopped process when its lease ends', { timeout: 60_000 }, async (t) => {
  const db = await testWorkflows(t)
  await createTables(db.sql)
  const { child } = startWorker(t, { url: db.url, leaseSeconds: 2 })
  const id = await submit(db.sql, submitter(db), 'gated', { id: newId() })
  await until('step', async () => (await readSteps(db.sql, id)).length === 1)
  child.kill('SIGSTOP')
  const begun = systemClock.monotonic()
  db.start(recipes(db.sql, false))
  assert.equal((await ended(db.sql, id)).state, 'done')
  t.diagnostic(`taken over after ${Math.round(systemClock.monotonic() - begun)} ms of a lease of 2,000 ms`)
  assert.equal((await readWorkflow(db.sql, id)).fence, '2')
})
