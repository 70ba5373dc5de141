import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { messageOf } from '../../lib/error.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { type SocketCall, SocketHttp, SocketRefusal } from '../../lib/socket-http.ts'
import { EngineError } from '../engine.ts'

/** One request to the Docker daemon. */
export interface DaemonCall extends SocketCall {
  /** The time limit of the answer; for a stream, of its beginning. */
  readonly timeoutMs?: number
}

/** Thrown when the daemon rejects a request. */
export class DaemonRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'DaemonRefusal'
    this.status = status
  }
}

export const isRefusal = (error: unknown, ...statuses: readonly number[]): error is DaemonRefusal =>
  error instanceof DaemonRefusal && statuses.includes(error.status)

export const isUnreachable = (error: unknown): boolean => error instanceof EngineError && error.reason === 'unreachable'

const defaultTimeoutMs = 20_000

/**
 * The connection to one Docker daemon. Every request has a timeout and follows the caller's signal.
 * A rejection becomes DaemonRefusal, any invalid answer EngineError('unreachable').
 */
export class DockerDaemon {
  readonly #http: SocketHttp
  readonly #clock: Clock
  readonly #patienceMs: number

  constructor(options: { readonly socketPath: string; readonly clock: Clock; readonly patienceMs?: number }) {
    this.#http = new SocketHttp(options)
    this.#clock = options.clock
    this.#patienceMs = options.patienceMs ?? 15_000
  }

  /** Returns the answer as JSON. Anything else counts as no answer. */
  async json(call: DaemonCall): Promise<object> {
    const result = await this.#request(call)
    if (typeof result !== 'object' || result === null) {
      throw new EngineError('unreachable', `Docker returned an unreadable response to ${call.method} ${call.path}`)
    }
    return result
  }

  async send(call: DaemonCall): Promise<void> {
    await this.#request(call)
  }

  /**
   * Returns an answer to be read piece by piece. It ends with an error when the signal is aborted
   * or the connection breaks.
   */
  async stream(call: DaemonCall): Promise<IncomingMessage> {
    const line = new AbortController()
    const onAbort = (): void => line.abort(call.signal.reason)
    call.signal.throwIfAborted()
    call.signal.addEventListener('abort', onAbort, { once: true })
    const release = (): void => call.signal.removeEventListener('abort', onAbort)
    const begun = new AbortController()
    this.#clock.sleep(call.timeoutMs ?? defaultTimeoutMs, begun.signal).then(
      () => line.abort(late(call)),
      () => {},
    )
    try {
      const response = await settled(this.#http.stream(asSent(call, line.signal)), line.signal)
      response.once('close', release)
      return response
    } catch (error) {
      release()
      call.signal.throwIfAborted()
      throw translated(error, call)
    } finally {
      begun.abort(nobodyWaits)
    }
  }

  /**
   * Returns a connection on which both sides keep sending bytes; closed when the signal is aborted.
   */
  async duplex(call: DaemonCall): Promise<Duplex> {
    const { signal: begun } = startDeadline(call.timeoutMs ?? defaultTimeoutMs, call.signal)
    begun.throwIfAborted()
    try {
      const socket = await settled(this.#http.upgrade(asSent(call, begun), 'tcp'), begun)
      const onAbort = (): void => void socket.destroy()
      call.signal.addEventListener('abort', onAbort, { once: true })
      socket.once('close', () => call.signal.removeEventListener('abort', onAbort))
      // The end of the stream says enough.
      socket.on('error', () => {})
      return socket
    } catch (error) {
      call.signal.throwIfAborted()
      throw begun.aborted ? late(call) : translated(error, call)
    }
  }

  /** Retries repeatable work while the daemon is away, for a limited time. */
  async patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const end = this.#clock.monotonic() + this.#patienceMs
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isUnreachable(error) || this.#clock.monotonic() >= end) throw error
        await this.#clock.sleep(250, signal)
      }
    }
  }

  async #request(call: DaemonCall): Promise<unknown> {
    const deadline = startDeadline(call.timeoutMs ?? defaultTimeoutMs, call.signal)
    deadline.signal.throwIfAborted()
    try {
      return await settled(this.#http.json(asSent(call, deadline.signal)), deadline.signal)
    } catch (error) {
      call.signal.throwIfAborted()
      throw deadline.isOver ? late(call) : translated(error, call)
    }
  }
}

/** Returns the call with its signal combined with its timeout. */
const asSent = (call: DaemonCall, signal: AbortSignal): SocketCall => ({ ...call, signal })

/** Waits for the promise, but throws the signal's reason if that comes first. */
async function settled<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

const late = (call: DaemonCall): EngineError =>
  new EngineError(
    'unreachable',
    `Docker did not answer ${call.method} ${call.path} within ${(call.timeoutMs ?? defaultTimeoutMs) / 1000} ` +
      's; check the daemon',
  )

function translated(error: unknown, call: DaemonCall): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error
  if (error instanceof SocketRefusal) return new DaemonRefusal(error.status, error.message)
  if (!('code' in error)) return error
  return new EngineError('unreachable', `Docker cannot be reached (${call.path}): ${messageOf(error)}`, {
    cause: error,
  })
}
