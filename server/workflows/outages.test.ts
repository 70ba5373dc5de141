import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../database/index.ts'
import { cutDatabase } from '../database/testing-proxy.ts'
import { systemClock } from '../lib/clock.ts'
import { aborted, ended, readSteps, readWorkflow, submit, testWorkflows, until, workflow } from './testing.ts'

const nobody = { isAlive: () => true }

test('continues when the database comes back, without repeating ended steps', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const path = await cutDatabase(t, url)
  const { promise: isCut, resolve: afterCut } = Promise.withResolvers<void>()
  const runs: string[] = []
  const recipe = workflow('w', async (input, step) => {
    await step('before', async () => runs.push(`${input} before`))
    await step('during', async () => {
      await isCut
      return runs.push(`${input} during`)
    })
    await step('reading', async () => {
      await path.sql`select 1`
      return null
    })
  })
  const engine = start([recipe], { database: path.sql, url: path.url })
  const ids = await Promise.all(Array.from({ length: 8 }, (_, input) => submit(sql, engine, 'w', { input })))
  await until('first steps', () => runs.length === 8)
  await until('second steps', async () => (await sql`select from workflow_step where name = 'during'`).length === 8)
  path.cut()
  afterCut()
  await until('second steps', () => runs.length === 16)
  await until('attempts', () => path.refused() >= 5)
  assert.equal(engine.counts().done, 0)
  path.join()
  for (const id of ids) assert.equal((await ended(sql, id)).error, null)
  assert.equal(runs.length, 16)
  await until('their counts', () => engine.counts().done === 8)
  assert.equal(engine.counts().lost, 0)
})

test('resumes its workflows after an outage longer than a lease', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const path = await cutDatabase(t, url)
  let runs = 0
  const recipe = workflow('w', async (_input, step) => {
    await step('long', async ({ signal }) => (++runs === 1 ? aborted(signal) : null))
  })
  const engine = start([recipe], { database: path.sql, url: path.url, leaseSeconds: 1, ...nobody })
  const id = await submit(sql, engine, 'w')
  await until('step', () => runs === 1)
  path.cut()
  await until('loss', () => engine.counts().lost === 1)
  assert.equal((await readWorkflow(sql, id)).state, 'running')
  path.join()
  assert.equal((await ended(sql, id)).state, 'done')
  assert.equal(runs, 2)
})

test('starts without a database and stops without one', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const path = await cutDatabase(t, url)
  path.cut()
  const recipe = workflow('w', async (_input, step) => step('long', ({ signal }) => aborted(signal)))
  const engine = start([recipe], { database: path.sql, url: path.url, leaseSeconds: 2, graceMs: 200, ...nobody })
  const id = await submit(sql, engine, 'w')
  path.join()
  await until('step', async () => (await readSteps(sql, id)).length === 1)
  path.cut()
  const begun = systemClock.monotonic()
  await engine.stop()
  assert(systemClock.monotonic() - begun < 20_000)
})

test('runs everything while all its sessions are ended repeatedly', { timeout: 60_000 }, async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const path = await cutDatabase(t, url)
  await sql`create table effect (workflow uuid, step text, primary key (workflow, step))`
  const recipe = workflow('w', async (_input, step, context) => {
    for (const name of ['a', 'b', 'c']) {
      await step(name, () =>
        context.fenced(async (tx) => {
          await tx`insert into effect values (${context.id}, ${name}) on conflict do nothing`
          return null
        }),
      )
    }
  })
  const engine = start([recipe], { database: path.sql, url: path.url, pollMs: 100 })
  const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => submit(sql, engine, 'w', { key: `${n % 12}` })))
  const endSessions = async (): Promise<boolean> => {
    const rows = await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name in ('cut', 'quayside listen workflow')`
    return rows.length > 0
  }
  for (let round = 0; round < 30; round++) await until('sessions to end', endSessions)
  for (const id of ids) assert.equal((await ended(sql, id)).error, null)
  assert.equal((await sql`select from effect`).length, 180)
  assert.equal((await sql`select from workflow_step where status = 'SUCCESS'`).length, 180)
})

test('is notified of work again after its listening connection was ended', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const other = start([], { url })
  const engine = start([workflow('w', async () => {})], { url, pollMs: 600_000 })
  const first = await submit(sql, other, 'w')
  assert.equal((await ended(sql, first)).state, 'done')
  const killed = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'quayside listen workflow'`
  assert.equal(killed.length, 2)
  const second = await submit(sql, other, 'w')
  assert.equal((await ended(sql, second)).state, 'done')
  await until('the count', () => engine.counts().done === 2)
})

test('finds unreported work within seconds', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const engine = start([workflow('w', async () => {})])
  const first = await submit(sql, engine, 'w')
  await ended(sql, first)
  const id = await submit(sql, { submit: engine.submit, nudge: () => {} }, 'w')
  assert.equal((await ended(sql, id, 10_000)).state, 'done')
})

test('leases are renewed while all connections of the pool wait', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const pool = openDatabase({ url, max: 2, name: 'waiting' })
  t.after(() => pool.end())
  const { promise: isOver, resolve: finish } = Promise.withResolvers<void>()
  t.after(() => finish())
  const recipe = workflow('w', async (_input, step) => {
    await step('long', () => isOver.then(() => null))
  })
  const engine = start([recipe], { database: pool, url, leaseSeconds: 6, ...nobody })
  const id = await submit(sql, engine, 'w')
  await until('step', async () => (await readSteps(sql, id)).length === 1)
  const leaseUntil = async (): Promise<number> => {
    const [row] = await sql<{ lease_until: Date }[]>`select lease_until from workflow where id = ${id}`
    return row?.lease_until.getTime() ?? 0
  }
  await sql.begin(async (holder) => {
    await holder`select pg_advisory_xact_lock(1)`
    const waiting: Promise<unknown>[] = []
    await until('all wait', async () => {
      const rows =
        await sql`select from pg_stat_activity where application_name = 'waiting' and wait_event = 'advisory'`
      // The driver may have sent several over one connection. The next free connection takes
      // another one.
      if (rows.length < 2) waiting.push(pool`select pg_advisory_lock_shared(1)`.catch(() => {}))
      return rows.length === 2
    })
    const before = await leaseUntil()
    await until('a renewal', async () => (await leaseUntil()) > before)
    void Promise.all(waiting)
  })
  finish()
  assert.equal((await ended(sql, id)).fence, '1')
})
