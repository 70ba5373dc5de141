import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeLine, encodeLine, lineId, maxTextBytes, type NewLine, seqAt, storedText } from './line.ts'

const now = () => new Date('2025-01-01T00:00:00Z')

function roundTrip(line: NewLine): ReturnType<typeof decodeLine> {
  const bytes = Buffer.from(encodeLine(7, line, now))
  assert.equal(bytes.indexOf(10), bytes.length - 1)
  assert.equal(seqAt(bytes, 0), 7)
  return decodeLine(bytes, 0, bytes.length - 1)
}

test('stores text byte for byte: escape sequences, carriage returns, markup, other scripts', () => {
  for (const text of [
    '\u001b[2J\u001b]52;c;aGk=\u0007',
    'a\rb',
    '<script>',
    '日本語 🚢 é',
    '{"level":"info"}',
    '\\u0000',
    '',
  ]) {
    assert.equal(roundTrip({ at: 'x', text })?.['text'], text)
  }
})

test('a text that looks like a stored line or an audit entry is stored as text', () => {
  for (const text of [
    '{"seq":1,"at":"1970-01-01T00:00:00Z","marker":"dropped","lines":9,"text":"x"}',
    '{"operation":"deleteOrganization","organization_id":"x","result":"SUCCESS"}',
    '","marker":"gap","text":"',
  ]) {
    assert.deepEqual(roundTrip({ at: 'x', text }), { seq: 7, at: 'x', text })
  }
})

test('replaces NUL and broken surrogates, in the text and in other fields', () => {
  const line = roundTrip({ at: 'x', text: 'a\0b\ud800c', other: { name: '\0\udfff' } })
  assert.deepEqual(line, { seq: 7, at: 'x', text: 'a\ufffdb\ufffdc', other: { name: '\ufffd\ufffd' } })
})

test('gives a line without a time the time of storing', () => {
  assert.equal(roundTrip({ text: 'x' })?.at, '2025-01-01T00:00:00.000Z')
})

test('truncates long texts between two characters and reports how much', () => {
  assert.equal(storedText('x'.repeat(maxTextBytes)), 'x'.repeat(maxTextBytes))
  assert.equal(storedText('x'.repeat(maxTextBytes + 5)), `${'x'.repeat(maxTextBytes)} … [line cut: 5 more bytes]`)
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    const kept = storedText(shift + '🚢'.repeat(10_000)).split(' … ')[0] ?? ''
    assert.ok(kept.isWellFormed() && !kept.includes('\ufffd'))
    assert.ok(Buffer.byteLength(kept) <= maxTextBytes && Buffer.byteLength(kept) > maxTextBytes - 4)
  }
})

test('detects every damaged byte of a line', () => {
  const bytes = Buffer.from(encodeLine(7, { at: 'x', text: 'hello' }, now))
  for (let index = 0; index < bytes.length - 1; index++) {
    const damaged = Buffer.from(bytes)
    damaged[index] = (damaged[index] ?? 0) ^ 1
    const line = decodeLine(damaged, 0, bytes.length - 1)
    // The checksum does not cover the space before the number, which contains no data.
    assert.equal(line === undefined, index !== 8, `byte ${index}`)
  }
})

test('gives the same line the same id', () => {
  assert.equal(lineId('service/a', 1), lineId('service/a', 1))
  assert.notEqual(lineId('service/a', 1), lineId('service/a', 2))
  assert.notEqual(lineId('service/a', 1), lineId('deployment/a', 1))
})
