import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decideReplicas, type Load, type Recommendation, recommend } from './recommend.ts'

const minute = 60_000
const load = (replicas: number, percents: readonly number[], change: Partial<Load> = {}): Load => ({
  replicas,
  min: 1,
  max: 10,
  room: 100,
  usage: percents.map((percent, index) => ({
    replica: `r-${index}`,
    cpuMilli: percent * 5,
    cpuLimitMilli: 500,
    memoryMiB: 10,
    memoryLimitMiB: 100,
  })),
  targets: { cpuPercent: 60 },
  ...change,
})

const cases: [string, Load, number][] = [
  ['twice the target needs twice as many', load(2, [120, 120]), 4],
  ['just above the target, within a tenth, changes nothing', load(2, [65, 65]), 2],
  ['half the target needs half as many', load(4, [30, 30, 30, 30]), 2],
  ['an idle service needs the least', load(4, [0, 0, 0, 0]), 1],
  ['never more than the settings allow', load(6, Array(6).fill(400)), 10],
  ['one that tells nothing counts as idle where more are needed', load(2, [120]), 2],
  ['one that tells nothing counts as busy where fewer are needed', load(2, [20]), 2],
  ['without figures nothing changes', load(3, []), 3],
  ['memory asks for more where CPU does not', load(1, [10], { targets: { cpuPercent: 60, memoryPercent: 5 } }), 2],
  ['one step at most doubles the number, or adds four', load(1, [6000], { max: 100 }), 5],
]
for (const [what, given, expected] of cases) {
  test(what, () => assert.equal(recommend(given), expected))
}

/** Applies decisions one after the other, every 15 s, and returns the numbers. */
function over(minutes: number, start: number, percentAt: (minute: number) => number): number[] {
  let replicas = start
  let history: readonly Recommendation[] = []
  const seen: number[] = []
  for (let atMs = 0; atMs <= minutes * minute; atMs += 15_000) {
    const percent = percentAt(atMs / minute)
    const decision = decideReplicas(load(replicas, Array(replicas).fill(percent)), history, atMs)
    ;({ replicas, history } = decision)
    seen.push(replicas)
  }
  return seen
}

test('replicas are added at once, and removed only after five minutes without a need for more', () => {
  assert.equal(over(0, 2, () => 200)[0], 6)
  const calm = over(12, 4, () => 0)
  assert.equal(calm[19], 4)
  assert.equal(calm[20], 1)
  const bursts = over(12, 4, (at) => (at % 4 === 0 ? 60 : 0))
  assert.ok(
    bursts.every((replicas) => replicas === 4),
    bursts.join(),
  )
})

test('a full machine is reported, and gets no more replicas', () => {
  assert.deepEqual(pick(decideReplicas(load(2, [200, 200], { room: 3 }), [], 0)), { replicas: 3, full: true })
  assert.deepEqual(pick(decideReplicas(load(2, [200, 200], { room: 1 }), [], 0)), { replicas: 2, full: true })
  assert.deepEqual(pick(decideReplicas(load(2, [60, 60], { room: 1 }), [], 0)), { replicas: 2, full: false })
})
const pick = ({ replicas, full }: { replicas: number; full: boolean }) => ({ replicas, full })

const anyLoad = fc
  .record({
    min: fc.integer({ min: 0, max: 5 }),
    more: fc.integer({ min: 0, max: 20 }),
    place: fc.integer({ min: 0, max: 20 }),
    room: fc.integer({ min: 0, max: 30 }),
    percents: fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 25 }),
  })
  .map(({ min, more, place, room, percents }) => {
    const max = Math.max(1, min + more)
    const replicas = Math.min(max, Math.max(1, min) + place)
    return load(replicas, percents.slice(0, replicas), { min, max, room })
  })
const anyHistory = fc.array(
  fc.record({ ago: fc.integer({ min: 0, max: 900_000 }), replicas: fc.integer({ min: 1, max: 25 }) }),
)

test('any load: the settings hold, added replicas fit, and a need for more prevents a removal', () => {
  fc.assert(
    fc.property(anyLoad, anyHistory, (given, ages) => {
      const now = 10_000_000
      const history = ages.sort((a, b) => b.ago - a.ago).map(({ ago, replicas }) => ({ atMs: now - ago, replicas }))
      const { replicas } = decideReplicas(given, history, now)
      assert.ok(replicas >= Math.max(1, Math.min(given.min, given.replicas)) && replicas <= given.max)
      assert.ok(replicas <= Math.max(given.replicas, given.room))
      const recent = history.filter(({ atMs }) => now - atMs < 5 * minute)
      if (recent.some((one) => one.replicas >= given.replicas)) assert.ok(replicas >= given.replicas)
    }),
  )
})

test('more use never removes replicas', () => {
  fc.assert(
    fc.property(anyLoad, fc.integer({ min: 1, max: 300 }), (given, more) => {
      const usage = given.usage.map((one) => ({ ...one, cpuMilli: one.cpuMilli + more }))
      assert.ok(recommend({ ...given, usage }) >= recommend(given))
    }),
  )
})
