import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsOf } from './acme.ts'
import { windowIn } from './acme-renewal.ts'

test('Retry-After is a number of seconds or a date', () => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z')
  assert.equal(secondsOf('7200', nowMs), 7200)
  assert.equal(secondsOf('Sun, 01 Mar 2026 13:00:00 GMT', nowMs), 3600)
  assert.equal(secondsOf('Sun, 01 Mar 2026 11:00:00 GMT', nowMs), 0)
  for (const other of [undefined, '', 'soon', '99999999999']) assert.equal(secondsOf(other, nowMs), 0)
})

test('an authority is asked for its window again after a minute at least and a day at most', () => {
  const body = { suggestedWindow: { start: '2026-03-01T00:00:00Z', end: '2026-03-02T00:00:00Z' } }
  const pause = (seconds: number) => windowIn(body, seconds)?.askAgainSeconds
  assert.deepEqual([pause(0), pause(1), pause(7200), pause(1e6)], [21_600, 60, 7200, 86_400])
})
