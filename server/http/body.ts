import type { Readable } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'

/** Without a reason, every abort would make an exception with its stack. */
const isRead = 'the body was read'

/** All bytes of a body, at most `limit` and within `timeoutMs`; what comes later or on top is refused and the connection ends. */
export async function readBytes(payload: Readable, limit: number, timeoutMs: number, clock: Clock): Promise<Buffer> {
  const ended = new AbortController()
  const late = clock.sleep(timeoutMs, ended.signal).then(
    () => payload.destroy(new AppError('requestTimeout', `The body did not come within ${timeoutMs / 1000} s.`)),
    () => {},
  )
  try {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of payload) {
      size += chunk.length
      if (size > limit) throw new AppError('tooLarge', `The body is larger than ${limit} bytes.`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size)
  } finally {
    ended.abort(isRead)
    await late
  }
}
