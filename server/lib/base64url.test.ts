import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { decodeBase64url } from './base64url.ts'

test('decoding returns the bytes of a canonical spelling', () => {
  for (let length = 0; length < 70; length++) {
    const bytes = randomBytes(length)
    assert.deepEqual(decodeBase64url(bytes.toString('base64url')), bytes)
  }
})

test('decoding rejects every other spelling', () => {
  for (const text of ['QQ==', 'QQ=', 'QR', 'QUI=', 'QUJ', 'Q', 'a+b/', 'QQ\n', ' QQ', 'QQ.', 'QÄ', 'QQ\0']) {
    assert.equal(decodeBase64url(text), undefined, JSON.stringify(text))
  }
})
