import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { aborted, ended, noWork, readSteps, readWorkflow, submit, testWorkflows, until, workflow } from './testing.ts'
import { LeaseLostError, StepTimeoutError } from './workflow.ts'

const nobody = { isAlive: () => true }

test('hands over running workflows when it stops, without repeating ended steps', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const ran: string[] = []
  const recipe = (who: string) =>
    workflow('w', async (_input, step) => {
      await step('first', async () => ran.push(`${who} first`))
      await step('second', async ({ signal }) => {
        ran.push(`${who} second`)
        return who === 'a' ? aborted(signal) : null
      })
    })
  const a = start([recipe('a')])
  const id = await submit(sql, a, 'w')
  await until('second step', () => ran.includes('a second'))
  await a.stop()
  const left = await readWorkflow(sql, id)
  assert.deepEqual([left.state, left.owner, left.attempts], ['running', null, 0])
  assert.deepEqual((await readSteps(sql, id))[1], { name: 'second', status: null, error: null, ended: false })
  start([recipe('b')])
  assert.equal((await ended(sql, id, 10_000)).state, 'done')
  assert.deepEqual(ran, ['a first', 'a second', 'b second'])
  assert.equal(a.counts().stopped, 1)
})

test('records a step that ends while the process is stopping', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  let runs = 0
  const recipe = workflow('w', async (_input, step) => {
    await step('deaf', async () => {
      runs++
      begin()
      await systemClock.sleep(200)
      return null
    })
    await noWork(step, 'next')
  })
  const a = start([recipe])
  const id = await submit(sql, a, 'w')
  await begun
  await a.stop()
  assert.equal((await readSteps(sql, id))[0]?.status, 'SUCCESS')
  start([recipe])
  assert.equal((await ended(sql, id)).state, 'done')
  assert.equal(runs, 1)
})

test('counts the deadline of a step from its first start', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const errors: unknown[] = []
  let runs = 0
  const recipe = workflow('w', async (_input, step) => {
    await step('slow', ({ signal }) => aborted(signal, () => runs++), { deadlineSeconds: 3600 }).catch((error) => {
      if (error instanceof LeaseLostError) throw error
      errors.push(error)
    })
  })
  const a = start([recipe])
  const id = await submit(sql, a, 'w')
  await until('first run', () => runs === 1)
  await a.stop()
  await sql`update workflow_step set started_at = started_at - interval '3599.5 seconds'`
  const b = start([recipe])
  await until('second run', () => runs === 2)
  assert.equal((await ended(sql, id)).state, 'done')
  assert(errors[0] instanceof StepTimeoutError)
  await until('the count', () => b.counts().done === 1)
})

test('does not start a step again after its deadline has passed', async (t) => {
  const { sql, start } = await testWorkflows(t)
  let runs = 0
  const recipe = workflow('w', async (_input, step) => {
    await step('slow', ({ signal }) => aborted(signal, () => runs++))
  })
  const a = start([recipe])
  const id = await submit(sql, a, 'w')
  await until('first run', () => runs === 1)
  await a.stop()
  await sql`update workflow_step set started_at = started_at - interval '601 seconds'`
  start([recipe])
  assert.match(String((await ended(sql, id)).error), /step "slow" did not end within 600 s/)
  assert.equal(runs, 1)
})

test('writes nothing after another owner has taken over', async (t) => {
  const { sql, start } = await testWorkflows(t)
  await sql`create table note (text text)`
  const { promise: taken, resolve: take } = Promise.withResolvers<void>()
  const { promise: over, resolve: end } = Promise.withResolvers<unknown[]>()
  const abandoned: [] = []
  const a = start(
    [
      workflow(
        'w',
        async (_input, step, context) => {
          const note = () => context.fenced(async (tx) => void (await tx`insert into note values ('a')`))
          await note()
          const errors: unknown[] = []
          const failed = (error: unknown): void => void errors.push(error)
          await step('during', () => taken.then(() => null)).catch(failed)
          await note().catch(failed)
          await noWork(step, 'after').catch(failed)
          await step('clean', async () => null, { evenIfCanceled: true }).catch(failed)
          errors.push(context.signal.reason)
          end(errors)
          throw new Error('made of it')
        },
        abandoned,
      ),
    ],
    nobody,
  )
  const id = await submit(sql, a, 'w')
  await until('step', async () => (await readSteps(sql, id)).length === 1)
  await sql`update workflow set fence = fence + 1, owner = 'b', lease_until = now() + interval '1 hour'`
  take()
  for (const error of await over) assert(error instanceof LeaseLostError, String(error))
  assert.equal((await over).length, 5)
  await until('end of the run', () => a.counts().lost === 1)
  const row = await readWorkflow(sql, id)
  assert.deepEqual([row.state, row.owner, row.error], ['running', 'b', null])
  assert.deepEqual(await readSteps(sql, id), [{ name: 'during', status: null, error: null, ended: false }])
  assert.equal((await sql`select from note`).length, 1)
  assert.deepEqual(abandoned, [])
})

test('is not taken over during a fenced transaction', async (t) => {
  const { sql, url, start } = await testWorkflows(t)
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>()
  await sql`create table note (text text)`
  let isInside = false
  const a = start(
    [
      workflow('w', async (_input, _step, context) => {
        await context.fenced(async (tx) => {
          isInside = true
          await go
          await tx`insert into note values ('a')`
        })
      }),
    ],
    // The other process must run the second workflow: here it would wait, too.
    { ...nobody, maxRunning: 1 },
  )
  const id = await submit(sql, a, 'w')
  await until('transaction', () => isInside)
  await sql`update workflow set lease_until = now() - interval '1 hour'`
  const b = start([workflow('w', async () => {})], { pollMs: 10, url })
  await submit(sql, b, 'w')
  await until('other workflow', () => a.counts().done + b.counts().done === 1)
  assert.equal((await readWorkflow(sql, id)).fence, '1')
  letGo()
  assert.equal((await ended(sql, id)).state, 'done')
  assert.equal((await sql`select from note`).length, 1)
})

const hourMs = 3_600_000
const jumps = { 'an hour ahead': hourMs, 'an hour behind': -hourMs, 'ten years ahead': 87_600 * hourMs }
for (const [where, jumpMs] of Object.entries(jumps)) {
  test(`no lease is stolen, and no step ends early, where the wall clock of a process jumps ${where}`, async (t) => {
    const { sql, start } = await testWorkflows(t)
    const { promise: go, resolve: letGo } = Promise.withResolvers<void>()
    let jumpedMs = 0
    const jumping: Clock = { ...systemClock, now: () => new Date(Date.now() + jumpedMs) }
    const ran: string[] = []
    const recipe = (who: string) =>
      workflow('w', async (_input, step) => {
        await step('long', () => go.then(() => ran.push(who)))
      })
    const options = { leaseSeconds: 2, pollMs: 50, ...nobody }
    const a = start([recipe('a')], { ...options, clock: jumping })
    const id = await submit(sql, a, 'w')
    const isRenewed = (seconds: number) =>
      until(`a lease beyond ${seconds} s`, async () => {
        const rows = await sql`
          select from workflow where id = ${id} and lease_until > created_at + make_interval(secs => ${seconds})`
        return rows.length === 1
      })
    await isRenewed(2.5)
    jumpedMs = jumpMs
    const wrong: Clock = { ...systemClock, now: () => new Date(Date.now() + jumpMs) }
    const b = start([recipe('b'), workflow('other', async () => {})], { ...options, clock: wrong })
    // It would claim anything that is free together with new work: at once, and when the first
    // lease would be over.
    const looks = async (): Promise<void> => void (await ended(sql, await submit(sql, b, 'other')))
    await looks()
    await isRenewed(5.5)
    await looks()
    assert.deepEqual([(await readWorkflow(sql, id)).fence, a.counts().lost], ['1', 0])
    letGo()
    assert.equal((await ended(sql, id)).error, null)
    assert.deepEqual([ran, (await readWorkflow(sql, id)).fence], [['a'], '1'])
  })
}

test('takes over as soon as the database allows it, however far its own clock is behind', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const id = newId()
  await sql`
    insert into workflow (id, kind, key, input, state, owner, fence, lease_until, attempts)
    values (${id}, 'w', 'k', '{}', 'running', 'gone', 1, now() + interval '1 second', 1)`
  const behind: Clock = { ...systemClock, now: () => new Date(Date.now() - 87_600 * hourMs) }
  start([workflow('w', async () => {})], { clock: behind, pollMs: 50, ...nobody })
  assert.equal((await ended(sql, id, 10_000)).fence, '2')
})

test('cancels a run before its lease ends if it cannot be renewed', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const { promise: lost, resolve: lose } = Promise.withResolvers<{ reason: unknown; left: number }>()
  const a = start(
    [
      workflow('w', async (_input, step, context) => {
        await step('long', ({ signal }) => aborted(signal)).catch(async () => {
          const [row] = await sql<{ left: number }[]>`
            select extract(epoch from lease_until - now())::float8 as left from workflow`
          lose({ reason: context.signal.reason, left: row?.left ?? -1 })
        })
      }),
    ],
    { leaseSeconds: 2, ...nobody },
  )
  await submit(sql, a, 'w')
  await until('step', async () => (await sql`select from workflow_step`).length === 1)
  // A lock that is never released blocks renewals.
  await sql.begin(async (tx) => {
    await tx`select from workflow for update`
    await lost
  })
  const { reason, left } = await lost
  assert(reason instanceof LeaseLostError)
  assert(left > 0, `${left} s left`)
})

test('keeps renewed leases, and renews others while one row is locked', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>()
  const recipe = workflow('w', async (_input, step) => {
    await step('long', () => go.then(() => null))
  })
  const options = { leaseSeconds: 1, graceMs: 100, ...nobody }
  const a = start([recipe], options)
  const ids = [await submit(sql, a, 'w'), await submit(sql, a, 'w')]
  const [locked = '', free = ''] = ids
  await until('steps', async () => (await sql`select from workflow_step`).length === 2)
  await sql.begin(async (tx) => {
    await tx`select from workflow where id = ${locked} for update`
    await until('loss of the locked one', () => a.counts().lost === 1)
    await until('renewals of the other', async () => {
      const rows =
        await sql`select from workflow where id = ${free} and lease_until > created_at + interval '2.5 seconds'`
      return rows.length === 1
    })
  })
  assert.equal((await readWorkflow(sql, free)).fence, '1')
  letGo()
  for (const id of ids) assert.equal((await ended(sql, id)).state, 'done')
  assert.equal((await readWorkflow(sql, free)).fence, '1')
})

test('parks a workflow without progress, notifies its owner, and continues with others', async (t) => {
  const { sql, start } = await testWorkflows(t)
  await sql`
    insert into workflow (id, kind, key, input, state, owner, fence, lease_until, attempts)
    values (${newId()}, 'w', 'poison', '"p"', 'running', 'dead', 3, now(), 3)`
  const abandoned: { input: unknown; reason: string }[] = []
  const ran: unknown[] = []
  const recipe = workflow('w', async (input) => void ran.push(input), abandoned as [])
  const engine = start([recipe], { maxAttempts: 3, ...nobody })
  const other = await submit(sql, engine, 'w', { input: 'o', key: 'poison' })
  assert.equal((await ended(sql, other)).state, 'done')
  assert.deepEqual(
    (await sql`select state, error from workflow order by seq`).map((row) => [row['state'], row['error']]),
    [
      ['parked', 'gave up after 3 attempts'],
      ['done', null],
    ],
  )
  assert.deepEqual(abandoned, [{ input: 'p', reason: 'gave up after 3 attempts' }])
  assert.deepEqual(ran, ['o'])
})

test('resets the count of attempts when a step ends', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const id = newId()
  await sql`
    insert into workflow (id, kind, key, input, state, owner, fence, lease_until, attempts)
    values (${id}, 'w', 'k', '{}', 'running', 'dead', 3, now(), 2)`
  const attempts: number[] = []
  start(
    [
      workflow('w', async (_input, step) => {
        attempts.push((await readWorkflow(sql, id)).attempts)
        await step('bad', () => Promise.reject(new Error('no'))).catch(() => {})
        attempts.push((await readWorkflow(sql, id)).attempts)
        await noWork(step, 'good')
        attempts.push((await readWorkflow(sql, id)).attempts)
      }),
    ],
    nobody,
  )
  assert.equal((await ended(sql, id)).state, 'done')
  assert.deepEqual(attempts, [3, 3, 0])
})

test('takes over at once from an owner that is known to be dead, and later from others', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const [dead, other] = [newId(), newId()]
  await sql`
    insert into workflow (id, kind, key, input, state, owner, fence, lease_until, attempts) values
      (${dead}, 'w', 'a', '{}', 'running', 'dead', 1, now() + interval '15 minutes', 1),
      (${other}, 'w', 'b', '{}', 'running', 'other', 1, now() + interval '15 minutes', 1)`
  start([workflow('w', async () => {})], { isAlive: (owner) => owner !== 'dead' })
  assert.equal((await ended(sql, dead)).state, 'done')
  assert.equal((await readWorkflow(sql, other)).fence, '1')
})

test('runs a workflow again whose claim got no answer', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const engine = start([workflow('w', async () => {})], nobody)
  const first = await submit(sql, engine, 'w', { key: 'k' })
  await ended(sql, first)
  let owner = ''
  const spy = start(
    [
      workflow('spy', async () => {
        const [row] = await sql<{ owner: string }[]>`select owner from workflow where state = 'running'`
        owner = row?.owner ?? ''
        const lostClaim = newId()
        await sql`
          insert into workflow (id, kind, key, input, state, owner, fence, lease_until, attempts)
          values (${lostClaim}, 'lost', 'l', '{}', 'running', ${owner}, 1, now() + interval '1 hour', 1)`
      }),
      workflow('lost', async () => {}),
    ],
    nobody,
  )
  await submit(sql, spy, 'spy')
  await until('end of the lost claim', async () => {
    const [row] = await sql`select state from workflow where kind = 'lost'`
    return row?.['state'] === 'done'
  })
  assert.notEqual(owner, '')
})
