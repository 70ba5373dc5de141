import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundedLines } from './bounded-lines.ts'

async function* output(...pieces: readonly string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece)
}
const all = async (pieces: AsyncIterable<Buffer>): Promise<string[]> => {
  const lines: string[] = []
  for await (const line of boundedLines(pieces, 8)) lines.push(line)
  return lines
}

test('lines are split wherever pieces end', async () => {
  assert.deepEqual(await all(output('one\ntw', 'o\r\n', '\nlast')), ['one', 'two', '', 'last'])
})

test('a line that is too long keeps its beginning, and the next one is whole', async () => {
  assert.deepEqual(await all(output('12345', '6789', '0123\nnext\n')), ['12345678', 'next'])
})

test('output without a line feed keeps a bounded part of it', async () => {
  async function* endless(): AsyncGenerator<Buffer> {
    for (let count = 0; count < 10_000; count++) yield Buffer.alloc(1024, 'x')
  }
  assert.deepEqual(await all(endless()), ['xxxxxxxx'])
})
