import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownAnswer } from './shown-answer.ts'

const answer = (body: string | Buffer, change: { headers?: Record<string, string>; isPrivate?: boolean } = {}) => ({
  headers: {},
  isPrivate: false,
  ...change,
  body: Buffer.from(body),
})

test('an answer is shown as text, without NUL, escape sequences and direction marks', () => {
  assert.equal(shownAnswer(answer('{"ok":true}\r\n'), []), '{"ok":true}\n')
  assert.equal(
    shownAnswer(answer('a\0b\x1b[31mc\x7fd\u009be\u202ef\tg\n'), []),
    'a\ufffdb\ufffd[31mc\ufffdd\ufffde\ufffdf\tg\n',
  )
  assert.equal(shownAnswer(answer(Buffer.from([0x61, 0xff, 0xc3])), []), 'a\ufffd\ufffd')
  assert.equal(shownAnswer(answer(''), []), '')
})

test('at most one KiB is shown, without a partial character', () => {
  assert.equal(shownAnswer(answer('x'.repeat(16_384)), []), 'x'.repeat(1024))
  assert.equal(shownAnswer(answer('€'.repeat(5000)), []), '€'.repeat(341))
  assert.equal(shownAnswer(answer(`${'x'.repeat(1022)}\u{1f600}`), []), 'x'.repeat(1022))
  assert.ok(Buffer.byteLength(shownAnswer(answer('\x01'.repeat(5000)), [])) <= 1024)
})

test('a secret that the receiver sends back is masked: plain, in base64, in JSON, and across the limit', () => {
  const secret = 'quite"secret\\key'
  for (const form of [
    secret,
    JSON.stringify(secret),
    encodeURIComponent(secret),
    Buffer.from(secret).toString('base64'),
  ]) {
    const shown = shownAnswer(answer(`{"header":${form}}`), [secret])
    assert.ok(shown.includes('******') && !shown.includes('secret') && !shown.includes('cXVpdG'), shown)
  }
  const over = shownAnswer(answer(`${'x'.repeat(1018)}${secret}`), [secret])
  assert.equal(over, `${'x'.repeat(1018)}******`)
})

test('an answer from a private network or a compressed one is not shown', () => {
  assert.match(shownAnswer(answer('internal', { isPrivate: true }), []), /^The receiver is in a private network/)
  assert.match(shownAnswer(answer('zip', { headers: { 'content-encoding': 'gzip' } }), []), /^The answer is compressed/)
}) // biome-ignore format: one line
