import type { AddressGuard } from './address.ts'
import { startDeadline } from './deadline.ts'
import { createOpenStream, lateText, SafeFetchError, type SafeStream, type StreamRequest } from './safe-stream.ts'

export { SafeFetchError } from './safe-stream.ts'

export interface SafeRequest
  extends Pick<StreamRequest, 'method' | 'headers' | 'body' | 'signal' | 'allowHttp' | 'anyCertificate'> {
  /** For the whole exchange: resolving the name, connecting, sending, and reading the body. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

export interface SafeResponse {
  readonly status: number
  /** Names in lower case; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** See SafeStream. */
  readonly isPrivate: boolean
  /** As sent: never decompressed. */
  readonly body: Buffer
  /**
   * The body is incomplete: it was longer than allowed, too slow, or the connection broke after the
   * headers.
   */
  readonly truncated: boolean
}

export type SafeFetch = (url: string | URL, request: SafeRequest) => Promise<SafeResponse>

/**
 * Makes one short request to an address that a user chose, see `createOpenStream`. Throws
 * SafeFetchError, or the signal's reason when it is aborted.
 */
export function createSafeFetch(guard: AddressGuard): SafeFetch {
  const open = createOpenStream(guard)
  return async (target, { timeoutMs, maxResponseBytes, ...wanted }) => {
    const deadline = startDeadline(timeoutMs, wanted.signal)
    const url = URL.parse(String(target))
    if (!url) throw new SafeFetchError('address', 'The address is not a valid URL.')
    try {
      const limits = { headersTimeoutMs: timeoutMs, bodyTimeoutMs: timeoutMs }
      await using answer = await open(url, { ...wanted, ...limits, signal: deadline.signal })
      const { body, truncated } = await readBody(answer, maxResponseBytes, wanted.signal)
      const { status, headers, isPrivate } = answer
      return { status, headers, isPrivate, body, truncated }
    } catch (thrown) {
      wanted.signal.throwIfAborted()
      throw deadline.isOver ? new SafeFetchError('timeout', lateText(url, timeoutMs), { cause: thrown }) : thrown
    }
  }
}

/**
 * Reads at most this many bytes. An error after the headers only shortens the body, because the
 * status is known.
 */
async function readBody(
  { body }: SafeStream,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = []
  let room = maxBytes
  let truncated = false
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, room))
      truncated = chunk.length > room
      room -= chunk.length
      if (truncated) break
    }
  } catch {
    signal.throwIfAborted()
    truncated = true
  }
  return { body: Buffer.concat(chunks), truncated }
}
