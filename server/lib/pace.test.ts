import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPace } from './pace.ts'

const limits = { bytesPerSecond: 1000, graceMs: 5000 }
/** Returns the seconds until the client is too slow; 100 if never. */
const secondsUntilSlow = (bytes: number, isWaiting = true): number => {
  const pace = createPace(limits)
  for (let second = 1; second < 100; second++) if (!pace.note(1000, { isWaiting, bytes })) return second
  return 100
}

test('a client that sends nothing is too slow after the grace', () => assert.equal(secondsUntilSlow(0), 5))
test('a client at the minimum rate is fast enough', () => assert.equal(secondsUntilSlow(1000), 100))
test('a client at half the minimum rate is too slow after twice the grace', () =>
  assert.equal(secondsUntilSlow(500), 10))
test('the time in which the server is busy does not count', () => assert.equal(secondsUntilSlow(0, false), 100))

test('a fast start earns no more than the grace', () => {
  const pace = createPace(limits)
  assert.ok(pace.note(1000, { isWaiting: true, bytes: 10_000_000 }))
  assert.ok(pace.note(4999, { isWaiting: true, bytes: 0 }))
  assert.ok(!pace.note(1, { isWaiting: true, bytes: 0 }))
})
