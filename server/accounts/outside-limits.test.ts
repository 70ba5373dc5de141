import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { createOutsideLimit } from './outside-limits.ts'

const { sql } = await testDatabase({ after })

function openLimit() {
  let now = new Date('2030-01-01T00:00:00Z')
  const limit = createOutsideLimit({ database: sql, clock: { ...systemClock, now: () => now } })
  const codeOf = (error: unknown): string => Object(error).code
  const issuer = `https://${randomUUID()}.example.org`
  return {
    wrong: (address: string) =>
      limit({ address, issuer }, async () => undefined).then(
        () => 'asked',
        (error: unknown) => codeOf(error),
      ),
    right: (address: string) => limit({ address, issuer }, async () => 'account').catch(codeOf),
    failure: (address: string) => limit({ address, issuer }, async () => undefined).catch((error: unknown) => error),
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
  const fail = () =>
    limit({ address: '192.0.2.4', issuer: 'https://a.example.org' }, async () => assert.fail('no answer'))
  for (let count = 0; count < 20; count++) await assert.rejects(fail, /no answer/)
  await assert.rejects(fail, { code: 'tooManyRequests' })
})

test('an issuer is asked for 200 failed answers at once, and for one more each second', async () => {
  const { failure, wrong, right, later } = openLimit()
  for (let count = 0; count < 200; count++) assert.equal(await wrong(`198.51.100.${count}`), 'asked')
  const refused = Object(await failure('198.51.100.201'))
  assert.deepEqual([refused.code, refused.retryAfterSeconds], ['tooManyRequests', 1])
  assert.match(refused.message, /^Too many sign-ins at [\w-]+\.example\.org failed\. Try again in 1 s\.$/)
  assert.equal(await right('198.51.100.202'), 'tooManyRequests')
  later(1)
  assert.equal(await wrong('198.51.100.203'), 'asked')
  assert.equal(await wrong('198.51.100.204'), 'tooManyRequests')
  later(2)
  for (let count = 0; count < 5; count++) assert.equal(await right('198.51.100.205'), 'account')
})

test('clients with failures in a row leave half of the answers of an issuer to others', async () => {
  const { wrong, right } = openLimit()
  let asked = 0
  for (let client = 0; client < 10; client++) {
    for (let count = 0; count < 20; count++) {
      if ((await wrong(`203.0.113.${client}`)) === 'asked') asked += 1
    }
  }
  assert.ok(asked >= 100 && asked <= 120, `${asked}`)
  assert.equal(await right('203.0.113.99'), 'account')
})

test('failed answers at the same time from many clients stay within the limit of the issuer', async () => {
  const { wrong } = openLimit()
  const clients = Array.from({ length: 240 }, (_, count) => `192.0.${count}.7`)
  const ends: string[] = []
  for (let start = 0; start < clients.length; start += 40) {
    ends.push(...(await Promise.all(clients.slice(start, start + 40).map(wrong))))
  }
  assert.equal(ends.filter((end) => end === 'asked').length, 200)
  assert.equal(ends.filter((end) => end === 'tooManyRequests').length, 40)
})

test('a refusal for the sake of the issuer is not counted against the client', async () => {
  const { wrong, right, later } = openLimit()
  for (let count = 0; count < 200; count++) await wrong(`198.18.0.${count}`)
  for (let count = 0; count < 30; count++) assert.equal(await wrong('198.18.1.1'), 'tooManyRequests')
  later(1)
  assert.equal(await right('198.18.1.1'), 'account')
})
