import assert from 'node:assert/strict'
import test from 'node:test'
import { mostTakenMs, TakenTime } from './taken-time.ts'

const hourMs = 3_600_000
const stepMs = 250

/** Asks every quarter of a second, for an hour. Returns for how long the router has the port. */
function takenIn(isAsked: (now: number) => boolean): { total: number; longest: number; changes: number } {
  let now = 0
  const time = new TakenTime(() => now)
  const found = { total: 0, longest: 0, changes: 0 }
  for (let atOnce = 0; now < hourMs; now += stepMs) {
    const before = atOnce
    atOnce = time.takes(isAsked(now)) ? atOnce + stepMs : 0
    if (atOnce > 0) found.total += stepMs
    if (atOnce > 0 !== before > 0) found.changes++
    found.longest = Math.max(found.longest, atOnce)
  }
  return found
}

test('a challenge that never ends takes the port for a minute at once and a quarter of the time', () => {
  const { total, longest, changes } = takenIn(() => true)
  assert.ok(longest <= mostTakenMs + stepMs, String(longest))
  assert.ok(total <= hourMs / 4 + mostTakenMs, String(total))
  assert.ok(changes <= 2 + (2 * hourMs) / 60_000, String(changes))
})

test('challenges that begin again and again have the same bound', () => {
  for (const everyMs of [500, 1_000, 5_000, 40_000]) {
    const { total, longest } = takenIn((now) => now % everyMs < everyMs / 2)
    assert.ok(longest <= mostTakenMs + stepMs, String(longest))
    assert.ok(total <= hourMs / 4 + mostTakenMs, String(total))
  }
})

test('short challenges in a row all take the port', () => {
  let now = 0
  const time = new TakenTime(() => now)
  for (let host = 0; host < 12; host++) {
    assert.ok(time.takes(true))
    now += 3_000
    assert.ok(!time.takes(false))
    assert.ok(!time.isUsedUp)
    now += 1_000
  }
})
