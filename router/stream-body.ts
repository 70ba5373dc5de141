import { type Duplex, Readable } from 'node:stream'

/**
 * Returns the readable side of a stream as a stream of its own, with the same backpressure.
 * Destroying it leaves the writable side open.
 */
export function readableSide(stream: Duplex): Readable {
  const side = new Readable({ read: () => void stream.resume() })
  stream.on('data', (chunk: Buffer) => {
    if (!side.push(chunk)) stream.pause()
  })
  stream.once('end', () => side.push(null))
  stream.once('close', () => {
    if (!side.readableEnded && !stream.readableEnded) side.destroy(new Error('the client disconnected'))
  })
  return side
}
