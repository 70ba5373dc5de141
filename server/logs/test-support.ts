import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { LogLine, LogQuery } from '../engines/engine.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { type LineStore, type LineStoreOptions, openLineStore } from './line-store.ts'
import { nanoseconds } from './resume-point.ts'

/**
 * Only for tests of this room: a directory, a store in it, an engine's log source, and a clock that
 * a test advances.
 */
export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-logs-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

export function openStore(t: TestContext, directory: string, options: Partial<LineStoreOptions> = {}): LineStore {
  const store = openLineStore({ directory, clock: systemClock, log: silentLogger, syncEveryMs: 20, ...options })
  t.after(async () => {
    await store.close()
    // Its last lines may have been written after the directory was removed.
    await rm(directory, { recursive: true, force: true })
  })
  return store
}

/** A clock that only the test advances. */
export class TestClock implements Clock {
  /** Every requested wait, in milliseconds. */
  readonly sleeps: number[] = []
  #ms = 0
  #sleepers: { readonly until: number; readonly resolve: () => void }[] = []

  now(): Date {
    return new Date(Date.UTC(2025, 0, 1) + this.#ms)
  }

  monotonic(): number {
    return this.#ms
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms)
    if (signal?.aborted) return Promise.reject(signal.reason)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#sleepers.push({ until: this.#ms + ms, resolve })
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
    return promise
  }

  pass(ms: number): void {
    this.#ms += ms
    for (const sleeper of this.#sleepers) if (sleeper.until <= this.#ms) sleeper.resolve()
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.until > this.#ms)
  }
}

/** The output of an engine. A test adds lines, interrupts the source or clears it. */
export class LogSource {
  readonly lines: LogLine[] = []
  readonly queries: LogQuery[] = []
  attached = 0
  #failure: Error | undefined
  #change = Promise.withResolvers<void>()

  print(at: string, text: string, source: { replica?: string; stream?: 'stdout' | 'stderr' } = {}): void {
    this.lines.push({ at, replica: 'web-1', release: 'release-1', stream: 'stdout', ...source, text })
    this.#wake()
  }

  /** Ends every read with an error, after the lines printed so far. */
  break(): void {
    this.#failure = new Error('the connection to the engine was closed')
    this.#wake()
    this.#failure = undefined
  }

  async *logs(_service: string, query: LogQuery, signal: AbortSignal): AsyncGenerator<LogLine> {
    this.queries.push(query)
    const after = query.after === undefined ? -1n : nanoseconds(query.after)
    const onAbort = () => this.#wake()
    signal.addEventListener('abort', onAbort)
    this.attached++
    try {
      for (let index = 0; !signal.aborted; ) {
        const line = this.lines[index++]
        if (line && nanoseconds(line.at) > after) yield line
        if (line) continue
        index--
        await this.#change.promise
      }
    } finally {
      this.attached--
      signal.removeEventListener('abort', onAbort)
    }
  }

  #wake(): void {
    if (this.#failure) this.#change.reject(this.#failure)
    else this.#change.resolve()
    this.#change.promise.catch(() => {})
    this.#change = Promise.withResolvers()
  }
}
