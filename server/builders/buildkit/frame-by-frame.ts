import type { Duplex } from 'node:stream'
import { joinStream } from './joined-stream.ts'

const headerBytes = 9

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/**
 * Returns the stream with the frames of HTTP/2 that arrive one at a time. Node.js drops the body of
 * an answer that arrives in the same piece as its end, because nobody reads it by then. A socket
 * seldom does that, and a message of an API server often.
 */
export function frameByFrame(stream: Duplex): Duplex {
  return joinStream(frames(stream), stream)
}

/** Splits pieces after each frame. The bytes of a frame are not collected. */
async function* frames(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let header = Buffer.alloc(0)
  /** Bytes of the current frame that have not arrived. */
  let left = 0
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const from = at
      if (left === 0) {
        const part = piece.subarray(at, at + headerBytes - header.length)
        header = Buffer.concat([header, part])
        at += part.length
        if (header.length === headerBytes) left = header.readUIntBE(0, 3)
      }
      if (header.length === headerBytes) {
        const body = Math.min(left, piece.length - at)
        at += body
        left -= body
        if (left === 0) header = Buffer.alloc(0)
      }
      yield piece.subarray(from, at)
      if (at < piece.length) await nextTurn()
    }
  }
}
