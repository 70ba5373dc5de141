import { type Duplex, Readable } from 'node:stream'

/**
 * Returns the readable side of a stream as a stream of its own, with the same backpressure.
 * Destroying it leaves the writable side open. It fails if the stream ends before it is whole.
 */
export function readableSide(stream: Duplex, isWhole: () => boolean): Readable {
  const side = new Readable({ read: () => void stream.resume() })
  stream.on('data', (chunk: Buffer) => {
    if (!side.push(chunk)) stream.pause()
  })
  stream.once('end', () => isWhole() && side.push(null))
  stream.once('close', () => {
    const hasEnded = stream.readableEnded && isWhole()
    if (!side.readableEnded && !hasEnded) side.destroy(new Error('the client disconnected'))
  })
  return side
}
