import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { createOutsideLimit } from './outside-limits.ts'

const { sql } = await testDatabase({ after })

function openLimit() {
  let now = new Date('2030-01-01T00:00:00Z')
  const limit = createOutsideLimit({ database: sql, clock: { ...systemClock, now: () => now } })
  const codeOf = (error: unknown): string => Object(error).code
  return {
    wrong: (address: string) =>
      limit(address, async () => undefined).then(
        () => 'asked',
        (error: unknown) => codeOf(error),
      ),
    right: (address: string) => limit(address, async () => 'account').catch(codeOf),
    later: (seconds: number) => {
      now = new Date(now.getTime() + seconds * 1000)
    },
  }
}

test('a client asks no more after twenty failures in a row, and others still do', async () => {
  const { wrong, right, later } = openLimit()
  for (let count = 0; count < 20; count++) assert.equal(await wrong('192.0.2.1'), 'asked')
  assert.equal(await right('192.0.2.1'), 'tooManyRequests')
  assert.equal(await right('192.0.2.2'), 'account')
  later(6)
  assert.equal(await right('192.0.2.1'), 'account')
})

test('successes of many people at one address are not counted', async () => {
  const { right } = openLimit()
  for (let count = 0; count < 50; count++) assert.equal(await right('2001:db8::1'), 'account')
})

test('answers that arrive at the same time are counted as well', async () => {
  const { wrong } = openLimit()
  const ends: string[] = []
  for (let burst = 0; burst < 6; burst++) {
    const some = Array.from({ length: 10 }, () => wrong('192.0.2.3'))
    ends.push(...(await Promise.all(some)))
  }
  const asked = ends.filter((end) => end === 'asked').length
  assert.ok(asked >= 20 && asked <= 21, `${asked}`)
})

test('an error of the issuer counts as a failure', async () => {
  const limit = createOutsideLimit({ database: sql, clock: systemClock })
  const fail = () => limit('192.0.2.4', async () => assert.fail('no answer'))
  for (let count = 0; count < 20; count++) await assert.rejects(fail, /no answer/)
  await assert.rejects(fail, { code: 'tooManyRequests' })
})
