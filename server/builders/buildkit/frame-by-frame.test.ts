import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { frameByFrame } from './frame-by-frame.ts'

/** A frame of HTTP/2 with this number of bytes. */
function frame(bytes: number): Buffer {
  const whole = Buffer.alloc(9 + bytes, bytes % 251)
  whole.writeUIntBE(bytes, 0, 3)
  return whole
}

/** Returns the pieces that arrive of these. */
async function arriving(pieces: readonly Buffer[]): Promise<Buffer[]> {
  const stream = new PassThrough()
  const found: Buffer[] = []
  const reading = frameByFrame(stream)
  reading.on('data', (piece) => found.push(piece))
  const ended = new Promise((resolve) => reading.once('end', resolve))
  for (const piece of pieces) stream.write(piece)
  stream.end()
  await ended
  return found
}

test('frames that arrive in one piece are passed on one at a time', async () => {
  const frames = [frame(0), frame(70_000), frame(5)]
  const found = await arriving([Buffer.concat(frames)])
  assert.deepEqual(
    found.map(({ length }) => length),
    frames.map(({ length }) => length),
  )
})

test('bytes are unchanged however they are cut', async () => {
  const whole = Buffer.concat([frame(3), frame(0), frame(300), frame(1)])
  for (const size of [1, 2, 8, 9, 10, 64, 1000]) {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.subarray(index * size, (index + 1) * size),
    )
    assert.deepEqual(Buffer.concat(await arriving(pieces)), whole, `pieces of ${size} bytes`)
  }
})
