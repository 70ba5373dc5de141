import assert from 'node:assert/strict'
import test from 'node:test'
import { Attempts } from './attempts.ts'

test('the pause after failures in a row doubles up to half a minute', () => {
  let now = 0
  const attempts = new Attempts(() => now)
  assert.ok(attempts.mayBegin())
  const pauses = Array.from({ length: 10 }, () => {
    attempts.fail('broken')
    const failedAt = now
    while (!attempts.mayBegin()) now += 100
    return now - failedAt
  })
  assert.deepEqual(pauses, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000])
  assert.equal(attempts.failure, 'broken')
})

test('a program that has served for a while is started again at once, and another one after a pause', () => {
  let now = 0
  const attempts = new Attempts(() => now)
  attempts.fail('broken')
  now = 200
  attempts.begin()
  assert.equal(attempts.failure, undefined)
  now = 5_200
  attempts.end()
  assert.ok(attempts.mayBegin())
  attempts.begin()
  now = 5_300
  attempts.end()
  assert.ok(!attempts.mayBegin())
  assert.equal(attempts.failure, 'it ended soon after its start')
})
