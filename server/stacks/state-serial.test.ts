import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withSerial } from './state-serial.ts'

test('withSerial replaces the serial of the file and no other text', () => {
  const text = `{
  "version": 4, "serial" : 7,
  "lineage": "serial",
  "resources": [{"attributes": {"serial": 1, "big": 12345678901234567890, "text": "\\"serial\\": 2 }"}}]
}`
  assert.equal(withSerial(text, 41), text.replace('"serial" : 7', '"serial" : 41'))
})

test('withSerial returns an encrypted state unchanged', () => {
  const text = '{"serial":7,"lineage":"a","encrypted_data":"AAAA","encryption_version":"v0"}'
  assert.equal(withSerial(text, 8), text)
})

test('withSerial takes time in proportion to the text', () => {
  const text = `{"serial":1,"deep":${'['.repeat(500_000)}"${'\\\\'.repeat(500_000)}"`
  assert.match(withSerial(text, 2), /^\{"serial":2,/)
})
