import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { NewLine, StoredLine, StreamKey, StreamKind } from './line.ts'
import { after, followFrom, readFrom, tailOf } from './line-reader.ts'
import { LineStream } from './line-stream.ts'

export interface LineStoreOptions {
  /**
   * Files are `<directory>/<stream>/<number of the first line>.log`. Only one process at a time may
   * write them.
   */
  readonly directory: string
  /**
   * Whether this process writes now. While it does not, it reads what another process writes, and
   * ignores lines. Call `renew` after each change. Default: always.
   */
  readonly mayWrite?: () => boolean
  /** Bytes of each stream. Its oldest lines are deleted beyond that. */
  readonly maxBytesPerStream?: { readonly service?: number; readonly deployment?: number }
  readonly segmentBytes?: number
  /**
   * Maximum number of open file descriptors. Streams that are idle for two ticks of `syncEveryMs`
   * have none.
   */
  readonly maxOpenFiles?: number
  readonly syncEveryMs?: number
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Stores lines in files, one append-only stream per key. A readable line survives the death of the
 * process. After `flush`, or about a second, it survives that of the machine. Numbers are never
 * reused, and a marker replaces missing lines.
 */
export interface LineStore {
  /**
   * Stores lines in order, at most a few thousand per call. If it returns a promise, the disk is
   * behind: wait for it. A caller that does not wait loses lines once 8 MiB are queued, and a
   * marker says how many. Does nothing after `close`.
   */
  append(stream: StreamKey, lines: readonly NewLine[]): Promise<void> | undefined
  /** Returns the last `count` lines that match the filter, oldest first. */
  tail(stream: StreamKey, count: number, filter?: (line: StoredLine) => boolean): Promise<StoredLine[]>
  /** Returns lines after `afterSeq`, oldest first. */
  read(stream: StreamKey, page: { readonly afterSeq: number; readonly limit: number }): Promise<StoredLine[]>
  /**
   * The same, then new lines as they are stored. Ends when the signal is aborted or the stream is
   * removed.
   */
  follow(stream: StreamKey, afterSeq: number, signal: AbortSignal): AsyncGenerator<StoredLine>
  /** Lists the ids of all streams of a kind that have files, unordered. */
  streams(kind: StreamKind): AsyncIterable<string>
  /** Deletes a stream and its files. */
  remove(stream: StreamKey): Promise<void>
  /**
   * Makes everything appended before the call survive the death of the machine. Rejects if the disk
   * fails.
   */
  flush(): Promise<void>
  /**
   * Forgets queued lines and the state of all files, because another process wrote them meanwhile,
   * or will from now on.
   */
  renew(): Promise<void>
  /** Flushes and releases everything. */
  close(): Promise<void>
}

const MiB = 1024 * 1024
/** Number of idle streams whose state stays in memory: a few hundred bytes each. */
const rememberedStreams = 1000

export function openLineStore(options: LineStoreOptions): LineStore {
  const table = new StreamTable(options)
  const { mayWrite = () => true } = options
  return {
    append: (key, lines) => (table.isClosed || !mayWrite() ? undefined : table.stream(key).append(lines)),
    tail: async (key, count, filter) => tailOf(await table.stream(key).snapshot(), count, filter),
    read: async (key, { afterSeq, limit }) => {
      const page = await readFrom(await table.stream(key).snapshot(), after(afterSeq), limit)
      return page.lines.slice(0, limit)
    },
    follow: (key, afterSeq, signal) => followFrom(() => table.stream(key), afterSeq, signal),
    streams: (kind) => idsBelow(join(options.directory, kind)),
    remove: (key) => table.remove(key),
    flush: () => table.flush(),
    renew: () => table.renew(),
    close: () => table.close(),
  }
}

/** The streams that this process knows, and those with an open file. */
class StreamTable {
  readonly #options: LineStoreOptions
  readonly #streams = new Map<string, LineStream>()
  /** Least recently used first. */
  readonly #open = new Set<LineStream>()
  readonly #total = { bytes: 0 }
  readonly #closing = new AbortController()
  #ticking: Promise<void> | undefined

  constructor(options: LineStoreOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  stream(key: StreamKey): LineStream {
    const known = this.#streams.get(key)
    if (known) return known
    const kind = checkedKind(key)
    const { directory, clock, log, maxBytesPerStream = {}, segmentBytes = 4 * MiB } = this.#options
    const { mayWrite = () => true } = this.#options
    const maxBytes = maxBytesPerStream[kind] ?? (kind === 'service' ? 64 : 50) * MiB
    const stream = new LineStream({
      directory: join(directory, key),
      limits: { segmentBytes, maxBytes },
      total: this.#total,
      clock,
      log,
      closing: this.#closing.signal,
      mayWrite,
      onOpen: (opened) => this.#opened(opened),
    })
    if (this.#streams.size >= rememberedStreams) this.#forgetIdle()
    this.#streams.set(key, stream)
    return stream
  }

  async remove(key: StreamKey): Promise<void> {
    const stream = this.stream(key)
    await stream.remove()
    this.#open.delete(stream)
    if (this.#streams.get(key) === stream) this.#streams.delete(key)
  }

  async flush(): Promise<void> {
    await settleAll([...this.#streams.values()].map((stream) => stream.flush()))
  }

  async renew(): Promise<void> {
    this.#open.clear()
    await settleAll([...this.#streams.values()].map((stream) => stream.renew()))
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    try {
      await this.flush()
    } finally {
      this.#closing.abort(new Error('the line store was closed'))
      await this.#ticking
      await settleAll([...this.#streams.values()].map((stream) => stream.release()))
    }
  }

  #opened(stream: LineStream): void {
    this.#open.delete(stream)
    this.#open.add(stream)
    this.#ticking ??= this.#tick()
    const [oldest] = this.#open
    if (oldest && this.#open.size > (this.#options.maxOpenFiles ?? 64)) {
      this.#open.delete(oldest)
      void this.#guard(oldest.release())
    }
  }

  /** While files are open: flushes the ones written since the last round, and closes the others. */
  async #tick(): Promise<void> {
    const { clock, syncEveryMs = 1000 } = this.#options
    while (this.#open.size > 0 && !this.isClosed) {
      await clock.sleep(syncEveryMs, this.#closing.signal).catch(() => {})
      for (const stream of [...this.#open]) {
        if (this.isClosed) break
        if (stream.isUnsynced) await this.#guard(stream.sync())
        else if (this.#open.delete(stream)) await this.#guard(stream.release())
      }
    }
    this.#ticking = undefined
  }

  #guard(work: Promise<void>): Promise<void> {
    return work.catch((error) => this.#options.log.warn({ err: error }, 'log file could not be synced'))
  }

  #forgetIdle(): void {
    for (const [key, stream] of this.#streams) {
      if (this.#streams.size < rememberedStreams) return
      if (stream.isIdle) this.#streams.delete(key)
    }
  }
}

async function* idsBelow(directory: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(directory)) if (entry.isDirectory()) yield entry.name
  } catch (error) {
    // Nothing was ever stored.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}

/** Splits a key. Both parts become names of directories. */
function checkedKind(key: StreamKey): StreamKind {
  const match = /^(service|deployment)\/[A-Za-z0-9_-]{1,100}$/.exec(key)
  if (!match) throw new Error(`"${key}" is not the name of a log stream: expected service/<id> or deployment/<id>`)
  return match[1] === 'service' ? 'service' : 'deployment'
}

/** Waits for all, then throws the first error. */
async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
