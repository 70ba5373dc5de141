import type { Readable } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { BodyPlace } from './body-room.ts'

/** Without a reason, every abort would make an exception with its stack. */
const isRead = 'the body was read'

export interface BodyLimits {
  readonly bytes: number
  readonly timeoutMs: number
  /** Where the bytes are counted among those of all bodies. */
  readonly place?: Pick<BodyPlace, 'hold'> | undefined
}

/**
 * All bytes of a body, within its limits. Throws AppError `tooLarge` or `requestTimeout`, and the
 * connection ends; `unavailable` where there is no room for it.
 */
export async function readBytes(payload: Readable, limits: BodyLimits, clock: Clock): Promise<Buffer> {
  const { timeoutMs, place } = limits
  const ended = new AbortController()
  const late = clock.sleep(timeoutMs, ended.signal).then(
    () => payload.destroy(new AppError('requestTimeout', `The body did not come within ${timeoutMs / 1000} s.`)),
    () => {},
  )
  try {
    const chunks: Buffer[] = []
    let size = 0
    // Left early, the request is ended, but not its connection: the refusal can still be sent.
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
