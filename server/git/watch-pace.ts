import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { systemClock } from '../lib/clock.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { createPace, type PaceLimits } from '../lib/pace.ts'

/**
 * Watches how fast a client sends its body and reads the answer, until it is disposed. If the
 * client is too slow, `signal` is aborted and the connection is closed.
 */
export function watchPace(
  request: IncomingMessage,
  response: ServerResponse,
  limits: PaceLimits,
): Disposable & { readonly signal: AbortSignal } {
  const [tooSlow, ended] = [new AbortController(), new AbortController()]
  const { socket } = request
  const pace = createPace(limits)
  const everyMs = Math.min(1000, limits.graceMs / 4)
  const watch = async (): Promise<void> => {
    for (let before = passedBytes(socket); ; ) {
      const from = systemClock.monotonic()
      await systemClock.sleep(everyMs, ended.signal)
      const passed = passedBytes(socket)
      const isWaiting = waitsToRead(request) || response.writableLength > 0
      if (!pace.note(systemClock.monotonic() - from, { isWaiting, bytes: passed - before })) break
      before = passed
    }
    tooSlow.abort(new Error('the client was too slow'))
    socket.destroy()
  }
  // Ends with an error when it is disposed.
  watch().catch(() => {})
  return { signal: tooSlow.signal, [Symbol.dispose]: () => ended.abort(nobodyWaits) }
}

/** Counts the bytes that the client has sent, and those that the kernel has accepted for it. */
const passedBytes = (socket: Socket): number => socket.bytesRead + (socket.bytesWritten ?? 0) - socket.writableLength

/** Whether the body is incomplete and all received bytes are processed. */
const waitsToRead = (request: IncomingMessage): boolean =>
  request.method === 'POST' && !request.complete && request.readableLength === 0
