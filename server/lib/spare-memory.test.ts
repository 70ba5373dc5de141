import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { silentLogger } from './log.ts'
import { createMemoryKeeper, decide, type Rest } from './spare-memory.ts'

const mebi = 1024 * 1024
const look = (atMs: number, rssMiB: number, utilization = 0.02) => ({ atMs, rssBytes: rssMiB * mebi, utilization })

/** Lists the looks after which memory is given back; the first is number 0. */
function due(looks: readonly ReturnType<typeof look>[], from: Rest = { quietLooks: 0 }): number[] {
  let rest = from
  return looks.flatMap((one, index) => {
    const decided = decide(rest, one)
    rest = decided.rest
    return decided.isDue ? [index] : []
  })
}

test('memory is given back after four quiet looks in a row', () => {
  const looks = [look(0, 200), look(5_000, 200, 0.5), look(10_000, 200), look(15_000, 200), look(20_000, 200)]
  assert.deepEqual(due(looks), [])
  assert.deepEqual(due([...looks, look(25_000, 200)]), [5])
})

test('memory is given back again only after it has grown and a minimum pause has passed', () => {
  const given = { quietLooks: 4, given: { atMs: 0, rssBytes: 100 * mebi } }
  assert.deepEqual(due([look(500_000, 131)], given), [])
  assert.deepEqual(due([look(500_000, 132)], given), [0])
  assert.deepEqual(due([look(119_000, 300)], given), [])
})

test('growth is measured from the memory that remained after the last return', async () => {
  const seen = [
    ...Array.from({ length: 4 }, () => look(15_000, 200)),
    look(15_100, 90),
    ...Array.from({ length: 20 }, () => look(200_000, 110)),
  ]
  let collected = 0
  let beside = 0
  const keeper = createMemoryKeeper({
    log: silentLogger,
    look: () => seen.shift() ?? look(300_000, 122),
    collect: async () => void collected++,
    beside: () => void beside++,
  })
  for (let turn = 0; turn < 20; turn++) await keeper.reconcile()
  assert.deepEqual([collected, beside], [1, 1])
  for (let turn = 0; turn < 20; turn++) await keeper.reconcile()
  assert.deepEqual([collected, beside], [2, 2])
})

test('unused memory goes back to the machine', async () => {
  const keeper = createMemoryKeeper({ log: silentLogger })
  let garbage: unknown[] | undefined = Array.from({ length: 2_000_000 }, (_, index) => ({ index }))
  const full = process.memoryUsage.rss()
  assert.equal(garbage.length, 2_000_000)
  garbage = undefined
  await until('memory is given back', async () => {
    await keeper.reconcile()
    return process.memoryUsage.rss() < full - 32 * mebi
  })
})
