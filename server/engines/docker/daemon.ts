import type { IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import Docker from 'dockerode'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { EngineError } from '../engine.ts'

/** One request to the Docker daemon. */
export interface DaemonCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD'
  readonly path: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: object
  readonly file?: Buffer | Readable
  /** For the registry that the daemon is to ask. */
  readonly login?: { readonly username: string; readonly password: string }
  readonly signal: AbortSignal
  /** How long the answer may take; for a stream, its beginning. */
  readonly timeoutMs?: number
}

/** The daemon answered, and its answer was no. */
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
const success = Object.fromEntries([200, 201, 202, 204, 304].map((status) => [status, true]))

/**
 * The line to one Docker daemon: every request has a time-out and follows the caller's signal. A refusal becomes DaemonRefusal,
 * anything that is no proper answer EngineError('unreachable').
 */
export class DockerDaemon {
  readonly #docker: Docker
  readonly #clock: Clock
  readonly #patienceMs: number

  constructor(options: { readonly socketPath: string; readonly clock: Clock; readonly patienceMs?: number }) {
    // The library would prefer a DOCKER_HOST of the environment to the path given here.
    this.#docker = new Docker({ socketPath: options.socketPath, host: undefined, port: undefined, protocol: 'http' })
    this.#clock = options.clock
    this.#patienceMs = options.patienceMs ?? 15_000
  }

  /** The answer as JSON. An answer that is none counts as no answer. */
  async json(call: DaemonCall): Promise<object> {
    const result = await this.#request(call)
    if (typeof result !== 'object' || result === null || Buffer.isBuffer(result)) {
      throw new EngineError('unreachable', `Docker answered ${call.method} ${call.path} with something unreadable`)
    }
    return result
  }

  async send(call: DaemonCall): Promise<void> {
    await this.#request(call)
  }

  /** An answer that is read piece by piece; it ends with an error when the signal is aborted or the line breaks. */
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
      const result = await settled(this.#dial(call, line.signal, 'stream'), line.signal)
      // With `isStream` the library always hands out the response itself.
      const response = result as IncomingMessage
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

  /** An answer in which both sides go on sending bytes; closed when the signal is aborted. */
  async duplex(call: DaemonCall): Promise<Duplex> {
    const begun = AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMs ?? defaultTimeoutMs)])
    begun.throwIfAborted()
    try {
      const result = await settled(this.#dial(call, begun, 'hijack'), begun)
      // With `hijack` the library hands out the socket.
      const socket = result as Duplex
      const onAbort = (): void => void socket.destroy()
      call.signal.addEventListener('abort', onAbort, { once: true })
      socket.once('close', () => call.signal.removeEventListener('abort', onAbort))
      // Its end tells enough.
      socket.on('error', () => {})
      return socket
    } catch (error) {
      call.signal.throwIfAborted()
      throw begun.aborted ? late(call) : translated(error, call)
    }
  }

  /** Repeats work that may be repeated while the daemon is away, for a limited time. */
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
    const timeout = AbortSignal.timeout(call.timeoutMs ?? defaultTimeoutMs)
    const ended = AbortSignal.any([call.signal, timeout])
    ended.throwIfAborted()
    try {
      // The library never calls back when an answer breaks off in its middle: the signal has the last word.
      return await settled(this.#dial(call, ended, 'whole'), ended)
    } catch (error) {
      call.signal.throwIfAborted()
      throw timeout.aborted ? late(call) : translated(error, call)
    }
  }

  #dial(call: DaemonCall, signal: AbortSignal, form: 'whole' | 'stream' | 'hijack'): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#docker.modem.dial(
      {
        method: call.method,
        path: `${call.path}?`,
        options: { _query: call.query ?? {}, _body: call.body ?? {} },
        file: call.file,
        authconfig: call.login,
        isStream: form === 'stream',
        hijack: form === 'hijack',
        statusCodes: success,
        abortSignal: signal,
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    )
    return promise
  }
}

/** The promise, or the signal's reason when that comes first. */
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
    `Docker did not answer ${call.method} ${call.path} within ${(call.timeoutMs ?? defaultTimeoutMs) / 1000} s; check the daemon`,
  )

function translated(error: unknown, call: DaemonCall): unknown {
  if (error instanceof EngineError || !(error instanceof Error)) return error
  if ('statusCode' in error && typeof error.statusCode === 'number') {
    // "(HTTP code 404) unexpected - No such container: x ": only what the daemon itself said is of use.
    return new DaemonRefusal(error.statusCode, error.message.replace(/^\(HTTP code \d+\) .*? - /s, '').trim())
  }
  if (!('code' in error)) return error
  return new EngineError('unreachable', `Docker cannot be reached (${call.path}): ${messageOf(error)}`, {
    cause: error,
  })
}
