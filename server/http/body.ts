import type { Readable } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { BodyPlace } from './body-room.ts'

/** A fixed reason. Without one, every abort creates an exception with a stack. */
const isRead = 'the body was read'

export interface BodyLimits {
  readonly bytes: number
  readonly timeoutMs: number
  /** The place that counts the bytes in the room of all bodies. */
  readonly place?: Pick<BodyPlace, 'hold'> | undefined
}

/**
 * Returns all bytes of a body. Throws AppError `tooLarge` or `requestTimeout` beyond its limits and
 * ends the connection. Throws `unavailable` if the room is full.
 */
export async function readBytes(payload: Readable, limits: BodyLimits, clock: Clock): Promise<Buffer> {
  const { timeoutMs, place } = limits
  const ended = new AbortController()
  const late = clock.sleep(timeoutMs, ended.signal).then(
    () => payload.destroy(new AppError('requestTimeout', `The body did not arrive within ${timeoutMs / 1000} s.`)),
    () => {},
  )
  try {
    const chunks: Buffer[] = []
    let size = 0
    // Leaving the loop early ends the request, not its connection, so the error can still be sent.
    for await (const chunk of payload) {
      size += chunk.length
      if (size > limits.bytes) throw new AppError('tooLarge', `The body is larger than ${limits.bytes} bytes.`)
      place?.hold(size)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size)
  } finally {
    ended.abort(isRead)
    await late
  }
}
