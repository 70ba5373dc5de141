import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { systemClock } from '../lib/clock.ts'
import { matchesWildcard } from '../lib/wildcard.ts'
import { signatureHeaders, signingKey } from './message.ts'
import { nextAttempt, retryAfterMs } from './schedule.ts'

test('a project filter ignores case, and a star matches any text', () => {
  for (const [pattern, name] of [
    ['shop', 'Shop'],
    ['*', ''],
    ['a*c', 'abc'],
    ['*prod*', 'my-PROD-eu'],
    ['a*b*c', 'a-b-b-c'],
  ]) {
    assert.equal(matchesWildcard(pattern ?? '', name ?? '', { isLiteral: true }), true, `${pattern} ${name}`)
  }
  for (const [pattern, name] of [
    ['shop', 'shops'],
    ['a*a', 'a'],
    ['*x', 'xy'],
    ['a*b*c', 'acb'],
    ['ab*ba', 'aba'],
  ]) {
    assert.equal(matchesWildcard(pattern ?? '', name ?? '', { isLiteral: true }), false, `${pattern} ${name}`)
  }
})

test('a receiver with the public library accepts the signature and rejects changed messages', () => {
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
  const body = '{"event_type":"DEPLOYMENT_STARTED"}'
  const headers = signatureHeaders('0190aaaa', systemClock.now(), body, signingKey(secret))
  const receiver = new Webhook(secret)
  assert.deepEqual(receiver.verify(body, headers), { event_type: 'DEPLOYMENT_STARTED' })
  assert.throws(() => receiver.verify(`${body} `, headers))
  assert.throws(() => receiver.verify(body, { ...headers, 'webhook-id': 'other' }))
  const old = signatureHeaders('x', new Date(systemClock.now().getTime() - 3_600_000), body, signingKey(secret))
  assert.throws(() => receiver.verify(body, old))
})

test('retries follow the published schedule, up to a tenth later, and end after the eighth', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  for (const [index, wait] of retryAfterMs.entries()) {
    assert.equal(nextAttempt(now, index + 1, 0, undefined)?.getTime(), now.getTime() + wait)
    assert.equal(nextAttempt(now, index + 1, 1, undefined)?.getTime(), now.getTime() + wait * 1.1)
  }
  assert.equal(nextAttempt(now, retryAfterMs.length + 1, 0, undefined), undefined)
  assert.equal(nextAttempt(now, 1, 0, 60)?.getTime(), now.getTime() + 60_000, 'a later wish of the receiver counts')
  assert.equal(nextAttempt(now, 1, 0, 10 ** 9)?.getTime(), now.getTime() + 24 * 3_600_000, 'up to a day')
})
