import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { createRateLimiter } from './rate-limit.ts'

function limiter(perSecond: number, burst: number) {
  let now = 1000
  const limited = createRateLimiter(perSecond, burst, { ...systemClock, monotonic: () => now })
  return { take: (key = 'a') => limited.take(key), pass: (ms: number) => (now += ms) }
}

test('a limiter accepts a burst, and the next request after the reported wait', () => {
  const { take, pass } = limiter(2, 5)
  for (let count = 5; count > 0; count--) assert.deepEqual([take().allowed, count], [true, count])
  const refused = take()
  assert.equal(refused.allowed, false)
  assert.equal(refused.remaining, 0)
  assert.equal(refused.resetSeconds, 1)
  pass(refused.resetSeconds * 1000)
  assert.equal(take().allowed, true)
})

test('a verdict reports how many more requests would be accepted', () => {
  const { take } = limiter(1, 3)
  assert.deepEqual(
    [take(), take(), take(), take()].map((verdict) => [verdict.allowed, verdict.remaining]),
    [
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
    ],
  )
})

test('a limiter counts each key alone, and limits nothing when the rate is zero', () => {
  const { take } = limiter(1, 1)
  assert.equal(take('a').allowed, true)
  assert.equal(take('a').allowed, false)
  assert.equal(take('b').allowed, true)
  const off = limiter(0, 1)
  assert.ok(Array.from({ length: 100 }, () => off.take().allowed).every(Boolean))
})
