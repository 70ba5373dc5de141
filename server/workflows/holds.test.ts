import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { Holds, isOwnHold } from './holds.ts'
import { ended, noWork, submit, testWorkflows, workflow } from './testing.ts'

const leaseSeconds = 1
/** Blocks the thread of the process for longer than a lease. */
const hold = (): void => {
  const end = systemClock.monotonic() + leaseSeconds * 1500
  while (systemClock.monotonic() < end);
}

test('parks only a workflow whose step blocks the thread three times', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const abandoned: { input: unknown; reason: string }[] = []
  let holds = 0
  const bad = workflow(
    'bad',
    async (_input, step) => {
      await noWork(step, 'first')
      await step('second', async ({ signal }) => {
        await systemClock.sleep(50, signal)
        holds++
        hold()
        await systemClock.sleep(5_000, signal)
      })
    },
    abandoned as never,
  )
  const good = workflow('good', async (_input, step) => {
    for (let part = 0; part < 3; part++) {
      await step(`part ${part}`, ({ signal }) => systemClock.sleep(1_500, signal))
    }
  })
  const engine = start([bad, good], { leaseSeconds })
  const id = await submit(sql, engine, 'bad')
  const others = await Promise.all(Array.from({ length: 3 }, () => submit(sql, engine, 'good')))
  const row = await ended(sql, id)
  assert.equal(row.state, 'parked')
  assert.equal(holds, 3)
  assert.match(row.error ?? '', /three times in a row/)
  assert.equal(abandoned.length, 1)
  for (const other of others) assert.equal((await ended(sql, other)).state, 'done')
})

test('does not park a workflow that progresses between two blocks of the thread', async (t) => {
  const { sql, start } = await testWorkflows(t)
  const held = new Set<number>()
  const recipe = workflow('w', async (_input, step) => {
    for (let part = 0; part < 4; part++) {
      await step(`part ${part}`, async ({ signal }) => {
        if (held.has(part)) return
        held.add(part)
        hold()
        await systemClock.sleep(5_000, signal)
      })
    }
  })
  const engine = start([recipe], { leaseSeconds })
  assert.equal((await ended(sql, await submit(sql, engine, 'w'))).state, 'done')
  assert.equal(held.size, 4)
})

test('starts suspects one at a time, and skips one that cannot be claimed', () => {
  const holds = new Holds()
  holds.note(['a', 'b', 'c'])
  assert.deepEqual(holds.kept(new Set()), ['b', 'c'])
  assert.deepEqual(holds.kept(new Set(['a'])), ['a', 'b', 'c'])
  holds.missed(new Set(['a']))
  assert.deepEqual(holds.kept(new Set()), ['b', 'c'])
  holds.missed(new Set())
  assert.deepEqual(holds.kept(new Set()), ['c', 'a'])
  for (let miss = 0; miss < 1000; miss++) holds.missed(new Set())
  assert.deepEqual([holds.kept(new Set()), holds.count('a')], [[], 0])
})

test('a gap without CPU time is not a block: the machine slept, or the process was stopped', () => {
  assert.ok(isOwnHold(16_000, 15_000))
  assert.ok(isOwnHold(16_000, 2_000), 'on a crowded machine')
  assert.ok(!isOwnHold(16_000, 100))
})
