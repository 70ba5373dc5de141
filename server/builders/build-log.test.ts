import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { capLog, splitLines } from './build-log.ts'

function linesOf(...pieces: readonly (string | Buffer)[]): string[] {
  const lines: string[] = []
  const splitter = splitLines((line) => lines.push(line))
  for (const piece of pieces) splitter.write(Buffer.from(piece))
  splitter.end()
  return lines
}

test('splitLines returns the same lines however the bytes are cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '🙂', ' ', '\u001B[31m'), maxLength: 60 })
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 5 }), (whole, cuts) => {
      const bytes = Buffer.from(whole)
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length]
      const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end))
      const expected = whole.split('\n')
      if (expected.at(-1) === '') expected.pop()
      assert.deepEqual(linesOf(...pieces), expected)
    }),
  )
})

test('splitLines returns a line as soon as it is complete', () => {
  const lines: string[] = []
  const splitter = splitLines((line) => lines.push(line))
  splitter.write(Buffer.from('one\r\ntw'))
  assert.deepEqual(lines, ['one'])
  splitter.end()
  assert.deepEqual(lines, ['one', 'tw'])
})

test('splitLines cuts a line at 16 kB and continues with the next', () => {
  const long = 'x'.repeat(10_000)
  const [cut, next, ...rest] = linesOf(long, long, long, `\nnext\n${'y'.repeat(16 * 1024)}\n`)
  assert.equal(cut, `${'x'.repeat(16 * 1024)} [line cut at 16 kB]`)
  assert.equal(next, 'next')
  assert.deepEqual(rest, ['y'.repeat(16 * 1024)])
})

test('splitLines replaces NUL, which PostgreSQL cannot store', () => {
  assert.deepEqual(linesOf('a\0b\n'), ['a\uFFFDb'])
})

test('capLog passes lines on up to the limit and reports once that it was reached', () => {
  const lines: [string, string | undefined][] = []
  const capped = capLog({ line: (text, level) => lines.push([text, level]) }, 10)
  for (const text of ['1234', '6789', 'over', 'a', 'b']) capped.line(text)
  assert.deepEqual(lines, [
    ['1234', undefined],
    ['6789', undefined],
    ['[log cut at 10 bytes; the build continues]', 'warning'],
  ])
})
