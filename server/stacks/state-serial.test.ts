import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renumbering } from './state-serial.ts'

const withSerial = async (text: string, serial: number) => (await renumbering(text))(serial)

test('renumbering replaces the serial of the file and no other text', async () => {
  const text = `{
  "version": 4, "serial" : 7,
  "lineage": "serial",
  "resources": [{"attributes": {"serial": 1, "big": 12345678901234567890, "text": "\\"serial\\": 2 }"}}]
}`
  assert.equal(await withSerial(text, 41), text.replace('"serial" : 7', '"serial" : 41'))
})

test('renumbering does not change an encrypted state', async () => {
  const text = '{"serial":7,"lineage":"a","encrypted_data":"AAAA","encryption_version":"v0"}'
  assert.equal(await withSerial(text, 8), undefined)
})

test('renumbering takes time in proportion to the text', async () => {
  const text = `{"serial":1,"deep":${'['.repeat(500_000)}"${'\\\\'.repeat(500_000)}"}`
  assert.match((await withSerial(text, 2)) ?? '', /^\{"serial":2,/)
})
