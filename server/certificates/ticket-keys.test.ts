import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTicketKeys } from './ticket-keys.ts'

test('a key of session tickets is replaced after twelve hours', () => {
  let nowMs = 0
  const current = createTicketKeys({ monotonic: () => nowMs })
  const first = current()
  assert.equal(Buffer.from(first.key, 'base64').length, 48)
  nowMs = 11 * 3600_000
  assert.equal(current(), first)
  nowMs = 12 * 3600_000
  assert.notEqual(current().key, first.key)
  assert.notEqual(current().mark, first.mark)
})
