import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { killGroup, start } from '../lib/run.ts'
import { openStore, temporaryDirectory } from './test-support.ts'

const program = fileURLToPath(new URL('line-store.child.ts', import.meta.url))

const streams = ['service/one', 'deployment/two'] as const

test('a killed process loses no flushed line, and no number is used twice', async (t) => {
  const directory = await temporaryDirectory(t)
  // The text of each line is its number: 1, 2, 3 …
  let next = 1
  for (let round = 0; round < 6; round++) {
    const flushed = await appendUntilKilled(directory, next, 3 + round)
    const store = openStore(t, directory)
    const ends: number[] = []
    for (const stream of streams) {
      const lines = await store.tail(stream, 1_000_000)
      assert.ok(lines.length >= flushed, `${lines.length} of at least ${flushed} lines are there`)
      const wrong = lines.find((line, index) => line.seq !== index + 1 || line['text'] !== String(index + 1))
      assert.equal(wrong, undefined)
      ends.push(lines.length)
    }
    // One stream may have lines that were never acknowledged. Both begin the next round with the
    // same number.
    const end = Math.max(...ends)
    for (const [index, stream] of streams.entries()) {
      for (let seq = (ends[index] ?? 0) + 1; seq <= end; seq++) void store.append(stream, [{ text: String(seq) }])
    }
    await store.close()
    next = end + 1
  }
  assert.ok(next > 1000)
})

/** Returns the number of lines that the process reported as flushed before it was killed. */
async function appendUntilKilled(directory: string, begin: number, flushes: number): Promise<number> {
  const child = start(process.execPath, [program, directory, String(begin)], {})
  const ended = once(child, 'close')
  let flushed = 0
  let seen = 0
  if (!child.stdout) throw new Error('the child has no standard output')
  for await (const line of createInterface({ input: child.stdout })) {
    flushed = Number(line)
    if (++seen === flushes) killGroup(child)
  }
  await ended
  assert.ok(seen >= flushes, 'the child was killed while it appended')
  return flushed
}
