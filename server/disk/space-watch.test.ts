import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createDiskKeeper } from './keeper.ts'
import { isUrgent } from './space-watch.ts'

const gibibyte = 1024 ** 3
const space = (freeGiB: number, totalGiB = 100) => ({
  totalBytes: totalGiB * gibibyte,
  freeBytes: freeGiB * gibibyte,
  totalInodes: 0,
  freeInodes: 0,
})
const most = (freeGiB: number) => ({ freeBytes: freeGiB * gibibyte, freeInodes: 0 })
const signal = AbortSignal.timeout(60_000)

test('free space is urgent when it falls by the larger of 2 GiB and a hundredth, or is below a twentieth', () => {
  assert.deepEqual(
    [isUrgent(space(50), most(51.9)), isUrgent(space(50), most(52.1))],
    [false, true],
    'a disk of 100 GiB',
  )
  const large = space(500, 1000)
  assert.deepEqual([isUrgent(large, most(509)), isUrgent(large, most(511))], [false, true])
  assert.deepEqual([isUrgent(space(5), most(0)), isUrgent(space(4.9), most(0))], [false, true])
})

test('the disk is measured early, at most once a minute, when free space falls quickly', async (t) => {
  const { sql: database } = await testDatabase(t)
  let nowMs = 0
  let tookMs = 0
  let measured = 0
  const clock = { ...systemClock, monotonic: () => nowMs }
  const engine = new FakeEngine({ clock })
  const counting: FakeEngine = Object.assign(Object.create(engine), {
    diskSpace: async () => engine.space,
    disk: async () => {
      measured++
      nowMs += tookMs
      return engine.disk(signal)
    },
  })
  const keeper = createDiskKeeper({
    name: 'local',
    database,
    engine: counting,
    builder: { prune: async () => {} },
    clock,
    log: silentLogger,
    budgetBytes: undefined,
    layerGiB: 10,
    failRun: async () => {},
    measureLogs: async () => ({ count: 0, bytes: 0 }),
  })
  /** Sets the free space that many seconds later. Returns how often the disk was measured. */
  const after = async (seconds: number, freeGiB: number): Promise<number> => {
    nowMs += seconds * 1000
    engine.space = space(freeGiB)
    await keeper.watch(signal)
    await keeper.reconcile(signal)
    return measured
  }
  assert.equal(await after(0, 50), 1, 'the usual measurement')
  assert.equal(await after(10, 47), 1, 'less than a minute later')
  assert.equal(await after(50, 47), 2)
  assert.equal(await after(60, 47), 2, 'it does not fall any more')
  assert.equal(await after(60, 60), 2, 'somebody freed space')
  tookMs = 20_000
  assert.equal(await after(10, 57), 3, 'it fell again')
  assert.equal(await after(100, 40), 3, 'measuring took long')
  tookMs = 0
  assert.equal(await after(90, 40), 4)
  assert.equal(await after(60, 4), 5)
  assert.equal(await after(30, 4), 5)
  assert.equal(await after(31, 4), 6, 'less than a twentieth is free')
  engine.space = undefined
  assert.equal(await keeper.watch(signal), false, 'it cannot be seen')
})
