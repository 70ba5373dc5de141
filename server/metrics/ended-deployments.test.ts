import assert from 'node:assert/strict'
import test from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { EndedCounter } from './ended-deployments.ts'

/** A counter whose clock and deployments a test sets. Times are minutes. */
function bed() {
  let minutes = 10_000
  const ended = new Map<string, number>()
  const clock = { ...systemClock, now: () => new Date(minutes * 60_000) }
  const counter = new EndedCounter(clock, async (from) =>
    [...ended]
      .filter(([, at]) => at * 60_000 > from.getTime())
      .map(([id]) => ({ id, action: 'DEPLOY', status: 'DEPLOYED', seconds: 2 })),
  )
  return {
    ended,
    at: async (time: number): Promise<number> => {
      minutes = time
      const [sum] = await counter.count()
      assert.equal(sum?.seconds ?? 0, (sum?.count ?? 0) * 2)
      return sum?.count ?? 0
    },
  }
}

test('a deployment counts once, and so does one that ended before the last look', async () => {
  const { ended, at } = bed()
  ended.set('before the start', 9_999)
  ended.set('a', 10_001)
  assert.equal(await at(10_002), 1)
  ended.set('committed late', 10_001.5)
  ended.set('b', 10_003)
  assert.equal(await at(10_003), 3)
  assert.equal(await at(10_200), 3)
})

test('a clock that goes back counts no deployment twice, and the next ones once', async () => {
  const { ended, at } = bed()
  for (let minute = 0; minute < 300; minute += 10) ended.set(`${minute}`, 10_000 + minute)
  assert.equal(await at(10_300), 29)
  for (const [round, back] of [10_290, 10_245, 10_100, 10, 5].entries()) {
    assert.equal(await at(back), 29 + round)
    ended.set(`after ${back}`, back + 1)
    assert.equal(await at(back + 2), 30 + round)
    ended.delete(`after ${back}`)
  }
  assert.equal(await at(10_400), 34)
})

test('a clock that was ahead at the start hides no deployment for longer than a look', async () => {
  const { ended, at } = bed()
  assert.equal(await at(10), 0)
  ended.set('a', 11)
  assert.equal(await at(12), 1)
  assert.equal(await at(10_001), 1)
})
