import assert from 'node:assert/strict'
import test from 'node:test'
import { type CertificateFacts, stateOf } from './state.ts'

const now = new Date('2026-03-01T00:00:00Z')
const facts = (given: Partial<CertificateFacts> = {}): CertificateFacts => ({
  not_after: null,
  finding: null,
  due_at: new Date('2026-03-01T01:02:03Z'),
  ...given,
})
const valid = new Date('2026-04-01T00:00:00Z')
const over = new Date('2026-02-01T00:00:00Z')
const finding = 'Nobody answered.'

test('a certificate without an attempt, and one that is being made, are pending', () => {
  assert.equal(stateOf(undefined, now).state, 'PENDING')
  assert.equal(stateOf(facts(), now).state, 'PENDING')
})

test('a failure says why and when the next attempt is', () => {
  assert.deepEqual(stateOf(facts({ finding }), now), {
    state: 'FAILED',
    message: 'Nobody answered. The next attempt is at 2026-03-01T01:02:03Z',
  })
})

test('a valid certificate is ready, also if its renewal failed', () => {
  assert.deepEqual(stateOf(facts({ not_after: valid }), now), { state: 'READY', message: null })
  const { state, message } = stateOf(facts({ not_after: valid, finding }), now)
  assert.equal(state, 'READY')
  assert.match(message ?? '', /^its renewal failed: Nobody answered\. The next attempt/)
})

test('an expired certificate says since when', () => {
  assert.deepEqual(stateOf(facts({ not_after: over }), now), {
    state: 'EXPIRED',
    message: 'it expired at 2026-02-01T00:00:00Z',
  })
})
