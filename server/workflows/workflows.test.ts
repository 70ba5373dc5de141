import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from '../database/index.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createFinisher } from './finisher.ts'
import { aborted, ended, noWork, readSteps, readWorkflow, submit, testWorkflows, until, workflow } from './testing.ts'
import { CanceledError, StepTimeoutError, type Workflow } from './workflow.ts'

test('runs a workflow to its end and records its steps', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const seen: unknown[] = []
  const engine = start([
    workflow('w', async (input, step) => {
      seen.push(input)
      seen.push(await step('object', async () => ({ a: [1, null], left: undefined })))
      seen.push(await step('nothing', async () => undefined))
      seen.push(await step('null', async () => null))
    }),
  ])
  const id = await submit(sql, engine, 'w', { input: { x: 'y' } })
  assert.equal((await ended(sql, id)).state, 'done')
  assert.deepEqual(seen, [{ x: 'y' }, { a: [1, null] }, undefined, null])
  assert.deepEqual(
    (await readSteps(sql, id)).map(({ name, status, ended }) => [name, status, ended]),
    [
      ['object', 'SUCCESS', true],
      ['nothing', 'SUCCESS', true],
      ['null', 'SUCCESS', true],
    ],
  )
  await until('the count', () => engine.counts().done === 1)
})

test('accepts the same id once', async (t) => {
  const { sql, start } = await testWorkflows(t)
  let runs = 0
  const engine = start([workflow('w', async () => void runs++)])
  const submission = { id: newId(), kind: 'w', key: 'k', input: {}, countsFor: 'platform' as const }
  assert.equal(await engine.submit(sql, submission), true)
  assert.equal(await engine.submit(sql, submission), false)
  engine.nudge()
  await ended(sql, submission.id)
  assert.equal(await engine.submit(sql, submission), false)
  assert.equal(
    await submit(sql, engine, 'w')
      .then((id) => ended(sql, id))
      .then(({ state }) => state),
    'done',
  )
  assert.equal(runs, 2)
})

test('runs one workflow per key at a time, in the order of submission', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const order = new Map<string, number[]>()
  const active = new Set<string>()
  let overlaps = 0
  const one = workflow('w', async (input, step) => {
    const [key, number] = String(input).split(' ')
    if (active.has(`${key}`)) overlaps++
    active.add(`${key}`)
    await step('only', async () => {
      await systemClock.sleep(Number(number) % 3)
      return null
    })
    order.set(`${key}`, [...(order.get(`${key}`) ?? []), Number(number)])
    active.delete(`${key}`)
  })
  const engines = [start([one], { url }), start([one], { url })]
  const ids: string[] = []
  for (let number = 0; number < 10; number++) {
    for (const key of 'abcdefgh') {
      const engine = engines[number % 2]
      assert(engine)
      ids.push(await submit(sql, engine, 'w', { key, input: `${key} ${number}` }))
    }
  }
  for (const id of ids) assert.equal((await ended(sql, id)).state, 'done')
  assert.equal(overlaps, 0)
  assert.equal(order.size, 8)
  for (const numbers of order.values()) assert.deepEqual(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('cancels the running step at once and still runs the steps that clean up', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const abandoned: { reason: string }[] = []
  let isReached = false
  let isCleaned = false
  const engine = start(
    [
      workflow(
        'w',
        async (_input, step, context) => {
          try {
            await step('long', ({ signal }) => aborted(signal))
          } catch (error) {
            isReached = true
            assert(error instanceof CanceledError)
            assert(context.signal.reason instanceof CanceledError)
            await assert.rejects(noWork(step, 'never begun'), CanceledError)
            await step(
              'clean',
              async ({ signal }) => {
                assert.equal(signal.aborted, false)
                isCleaned = true
                return null
              },
              { evenIfCanceled: true },
            )
            throw error
          }
        },
        abandoned as [],
      ),
    ],
    // Polling alone would find it after minutes.
    { url, leaseSeconds: 3600, pollMs: 600_000 },
  )
  const id = await submit(sql, engine, 'w')
  await until('step', async () => (await readSteps(sql, id)).length === 1)
  assert.equal(await sql.begin((tx) => engine.requestCancel(tx, id)), 'running')
  const { state, error } = await ended(sql, id)
  assert.deepEqual([state, error], ['canceled', 'canceled'])
  assert(isReached)
  assert(isCleaned)
  assert.deepEqual(
    abandoned.map(({ reason }) => reason),
    ['canceled'],
  )
  assert.deepEqual(
    (await readSteps(sql, id)).map(({ name, status }) => [name, status]),
    [
      ['long', 'CANCEL'],
      ['never begun', 'SKIP'],
      ['clean', 'SUCCESS'],
    ],
  )
  assert.equal(await engine.requestCancel(sql, id), 'ended')
})

test('finds an unreported cancel', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const engine = start([workflow('w', async (_input, step) => step('long', ({ signal }) => aborted(signal)))])
  const id = await submit(sql, engine, 'w')
  await until('step', async () => (await readSteps(sql, id)).length === 1)
  await engine.requestCancel(sql, id)
  assert.equal((await ended(sql, id)).state, 'canceled')
})

test('ends a waiting workflow in the transaction that cancels it', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const abandoned: [] = []
  let ran = false
  const engine = start([
    workflow('hold', async (_input, step) => step('hold', ({ signal }) => aborted(signal))),
    workflow(
      'w',
      async () => {
        ran = true
      },
      abandoned,
    ),
  ])
  const holder = await submit(sql, engine, 'hold', { key: 'k' })
  await until('start', async () => (await readWorkflow(sql, holder)).state === 'running')
  const id = await submit(sql, engine, 'w', { key: 'k' })
  await assert.rejects(
    sql.begin(async (tx) => {
      assert.equal(await engine.requestCancel(tx, id), 'canceled')
      throw new Error('rolled back')
    }),
    /rolled back/,
  )
  assert.equal((await readWorkflow(sql, id)).state, 'queued')
  assert.equal(await sql.begin((tx) => engine.requestCancel(tx, id)), 'canceled')
  await engine.requestCancel(sql, holder)
  await ended(sql, holder)
  const next = await submit(sql, engine, 'hold', { key: 'k' })
  await until('next', async () => (await readWorkflow(sql, next)).state === 'running')
  assert.equal((await readWorkflow(sql, id)).state, 'canceled')
  assert.equal(ran, false)
  assert.deepEqual(abandoned, [])
})

test('ends a workflow that throws together with the state of its owner', async (t) => {
  const { sql, start } = await testWorkflows(t)
  await sql`create table note (reason text)`
  const engine = start([
    {
      name: 'w',
      run: async (_input, step) => {
        await step('bad', () => Promise.reject(new Error('no \0 disk')))
      },
      abandoned: async (_input, reason, tx) => {
        await tx`insert into note values (${reason})`
      },
    },
  ])
  const id = await submit(sql, engine, 'w')
  const { state, error, attempts } = await ended(sql, id)
  assert.deepEqual([state, error, attempts], ['failed', 'failed: no  disk', 1])
  assert.deepEqual(
    (await sql`select reason from note`).map((row) => row['reason']),
    ['failed: no  disk'],
  )
  assert.deepEqual(await readSteps(sql, id), [{ name: 'bad', status: 'ERROR', error: 'no  disk', ended: true }])
})

test('ends a workflow also if its owner cannot write the state', async (t) => {
  const { sql, start } = await testWorkflows(t)
  let calls = 0
  const engine = start([
    {
      name: 'w',
      run: () => Promise.reject(new Error('first')),
      abandoned: async (_input, _reason, tx) => {
        calls++
        await tx`select 1 / 0`
      },
    },
  ])
  const id = await submit(sql, engine, 'w')
  assert.equal((await ended(sql, id)).error, 'failed: first')
  assert.equal(calls, 3)
})

test('a state that its owner could not write is written later, once, without blocking others', async (t) => {
  const { sql, start } = await testWorkflows(t)
  await sql`create table thing (id uuid, reason text)`
  const broken = { all: true, one: '' }
  const unfinished = (tx: Sql) => tx`select id from thing where reason is null`
  const w: Workflow = {
    name: 'w',
    run: () => Promise.reject(new Error('first')),
    abandoned: async (input, reason, tx) => {
      const { id } = Object(input)
      if (broken.all || broken.one === id) await tx`select 1 / 0`
      await tx`update thing set reason = coalesce(reason || ' and ', '') || ${reason} where id = ${id}`
    },
    unfinished,
  }
  const slow = { ...workflow('slow', (_input, _step, { signal }) => aborted(signal)), unfinished }
  const engine = start([w, slow])
  const ids = [newId(), newId(), newId()]
  for (const id of ids) await sql`insert into thing values (${id})`
  const [one = '', two = '', waiting = ''] = ids
  for (const id of [one, two]) await submit(sql, engine, 'w', { id, input: { id } })
  await submit(sql, engine, 'slow', { id: waiting })
  await Promise.all([ended(sql, one), ended(sql, two)])
  const reasons = async () =>
    new Map((await sql`select id, reason from thing`).map((row) => [row['id'], row['reason']]))
  assert.deepEqual(await reasons(), new Map(ids.map((id) => [id, null])))

  const finisher = createFinisher({ database: sql, log: silentLogger, workflows: [w, slow] })
  const look = () => finisher.reconcile(AbortSignal.timeout(60_000))
  Object.assign(broken, { all: false, one })
  await Promise.all([look(), look()])
  assert.deepEqual(
    await reasons(),
    new Map([
      [one, null],
      [two, 'failed: first'],
      [waiting, null],
    ]),
  )
  broken.one = ''
  await look()
  await look()
  assert.deepEqual(
    await reasons(),
    new Map([
      [one, 'failed: first'],
      [two, 'failed: first'],
      [waiting, null],
    ]),
  )
})

test('runs steps of different names at the same time and rejects the same name', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const both = Promise.withResolvers<void>()
  let active = 0
  let refused: unknown
  const meet = async (): Promise<number> => {
    if (++active === 2) both.resolve()
    await both.promise
    return active
  }
  const engine = start([
    workflow('w', async (_input, step) => {
      const twins = [step('a', meet), step('b', meet)]
      await step('a', meet).catch((error) => {
        refused = error
      })
      assert.deepEqual(await Promise.all(twins), [2, 2])
      assert.equal(await step('a', meet), 2)
    }),
  ])
  const id = await submit(sql, engine, 'w')
  assert.equal((await ended(sql, id)).error, null)
  assert.match(String(refused), /step "a" is already running/)
  assert.equal(active, 2)
})

test('ends a step at its deadline, even if the work ignores its signal', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const errors: unknown[] = []
  const engine = start(
    [
      workflow('w', async (_input, step) => {
        for (const work of [aborted, () => new Promise<undefined>(() => {})]) {
          await step(`s${errors.length}`, ({ signal }) => work(signal), { deadlineSeconds: 0.1 }).catch((error) =>
            errors.push(error),
          )
        }
      }),
    ],
    { graceMs: 200 },
  )
  const id = await submit(sql, engine, 'w')
  assert.equal((await ended(sql, id)).state, 'done')
  assert.equal(errors.length, 2)
  for (const error of errors) assert(error instanceof StepTimeoutError)
  assert.match(String(errors[0]), /step "s0" did not end within 0.1 s/)
})

test('does not claim unknown kinds, nor the workflows that wait behind them', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const engine = start([workflow('known', async () => {})], { pollMs: 20 })
  const unknown = await submit(sql, engine, 'unknown', { key: 'k' })
  const behind = await submit(sql, engine, 'known', { key: 'k' })
  const other = await submit(sql, engine, 'known')
  assert.equal((await ended(sql, other)).state, 'done')
  const later = await submit(sql, engine, 'known')
  await ended(sql, later)
  assert.equal((await readWorkflow(sql, unknown)).state, 'queued')
  assert.equal((await readWorkflow(sql, behind)).state, 'queued')
  start([workflow('unknown', async () => {})])
  assert.equal((await ended(sql, behind)).state, 'done')
})

test('runs no more workflows at a time than allowed', async (t) => {
  const { sql, start } = await testWorkflows(t)
  let active = 0
  let most = 0
  const engine = start(
    [
      workflow('w', async () => {
        most = Math.max(most, ++active)
        await systemClock.sleep(5)
        active--
      }),
    ],
    { maxRunning: 3 },
  )
  const ids = await Promise.all(Array.from({ length: 20 }, () => submit(sql, engine, 'w')))
  for (const id of ids) await ended(sql, id)
  assert.equal(most, 3)
})
