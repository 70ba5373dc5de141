import { startDeadline } from '../../lib/deadline.ts'
import { isKubeError, KubeError, type KubeObject } from './client/index.ts'
import { followObjects, type Objects, type Source, type Wish } from './follow-objects.ts'

export interface InformerOptions<T extends KubeObject, K> extends Source, Wish<T, K> {}

/** How long the first answer may take. */
const firstAnswerMs = 15_000
const shortestPauseMs = 500
const longestPauseMs = 15_000

/**
 * Keeps the objects of one kind up to date without asking again: a list and its changes. It begins
 * with the first call of `objects`, and ends with `close`. While the server is away it begins
 * again, with growing pauses.
 */
export class Informer<T extends KubeObject, K> {
  readonly #options: InformerOptions<T, K>
  readonly #closing = new AbortController()
  #objects: Objects<K> = new Map()
  #isCurrent = false
  #error: unknown
  #running: Promise<void> | undefined
  #next = Promise.withResolvers<void>()
  /** Grows with every change. */
  version = 0

  constructor(options: InformerOptions<T, K>) {
    this.#options = options
  }

  /** Returns the objects as they are now. Throws the reason if the server is away. */
  async objects(outer: AbortSignal): Promise<Objects<K>> {
    this.#running ??= this.#run()
    const deadline = startDeadline(firstAnswerMs, outer)
    while (!this.#isCurrent && this.#error === undefined) {
      await untilSettled(this.#next.promise, deadline.signal).catch((cause: unknown) => {
        outer.throwIfAborted()
        throw new KubeError(0, 'Timeout', 'the API server did not answer in time', { cause })
      })
    }
    if (!this.#isCurrent) throw this.#error
    return this.#objects
  }

  close(): void {
    this.#closing.abort(new Error('the cluster was disconnected'))
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#closing
    let pauseMs = shortestPauseMs
    while (!signal.aborted) {
      try {
        for await (const objects of followObjects(this.#options, this.#options, signal)) {
          pauseMs = shortestPauseMs
          this.#tell(objects, undefined)
        }
      } catch (error) {
        this.#tell(undefined, error)
        if (error instanceof KubeError) pauseMs = Math.max(pauseMs, error.retryAfterMs)
        // Somebody has to add the kind or the right first.
        if (isKubeError(error, 403, 404)) pauseMs = longestPauseMs
      }
      await clock.sleep(pauseMs, signal).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
    }
  }

  #tell(objects: Objects<K> | undefined, error: unknown): void {
    if (objects) this.#objects = objects
    this.#isCurrent = objects !== undefined
    this.#error = error
    this.version++
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }
}

/** Waits for a promise that never rejects, or until the signal is aborted. */
function untilSettled(work: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}
