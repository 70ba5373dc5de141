import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineBudget } from './line-budget.ts'

/**
 * Sends lines evenly. Returns how many were accepted, and in how many runs the others were
 * rejected.
 */
function offer(perSecond: number, rate: number, seconds: number): { taken: number; refusals: number } {
  const budget = new LineBudget(perSecond, 0)
  let taken = 0
  let refusals = 0
  let refusing = false
  for (let index = 0; index < rate * seconds; index++) {
    const isTaken = budget.take(() => (index * 1000) / rate)
    if (isTaken) taken++
    else if (!refusing) refusals++
    refusing = !isTaken
  }
  return { taken, refusals }
}

test('accepts everything up to the rate', () => {
  assert.deepEqual(offer(1000, 1000, 60), { taken: 60_000, refusals: 0 })
  assert.deepEqual(offer(1000, 10, 60), { taken: 600, refusals: 0 })
})

test('takes the rate on average from a flood, and refuses in few long runs', () => {
  const { taken, refusals } = offer(1000, 20_000, 60)
  assert.ok(taken >= 60_000 && taken <= 61_500, `${taken} lines taken`)
  assert.ok(refusals <= 121, `${refusals} runs`)
})

test('reports when lines are accepted again', () => {
  const budget = new LineBudget(10, 0)
  while (budget.take(() => 0));
  const pause = budget.pauseMs(0)
  assert.equal(
    budget.take(() => pause - 1),
    false,
  )
  assert.equal(
    budget.take(() => pause),
    true,
  )
})
