import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { NewLine, StoredLine, StreamKey, StreamKind } from './line.ts'
import { after, followFrom, readFrom, tailOf } from './line-reader.ts'
import { LineStream } from './line-stream.ts'

export interface LineStoreOptions {
  /** Files are `<directory>/<stream>/<number of the first line>.log`. One process at a time may have it open. */
  readonly directory: string
  /** Cap of each stream; its oldest lines are deleted beyond it. */
  readonly maxBytesPerStream?: { readonly service?: number; readonly deployment?: number }
  readonly segmentBytes?: number
  /** File descriptors held at most; streams that are idle for two ticks of `syncEveryMs` hold none. */
  readonly maxOpenFiles?: number
  readonly syncEveryMs?: number
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Keeps lines in files, one append-only stream per key. A line that can be read survives the death of the process; after
 * `flush`, or about a second, that of the machine. Numbers are never given twice; where lines are missing, a marker stands.
 */
export interface LineStore {
  /**
   * Stores lines in order, at most some thousand in one call. When it gives a promise the disk is behind: wait for it;
   * who does not loses lines (a marker tells how many) once 8 MiB are queued. Does nothing after `close`.
   */
  append(stream: StreamKey, lines: readonly NewLine[]): Promise<void> | undefined
  /** The last `count` lines that pass the filter, oldest first. */
  tail(stream: StreamKey, count: number, filter?: (line: StoredLine) => boolean): Promise<StoredLine[]>
  /** Lines after `afterSeq`, oldest first. */
  read(stream: StreamKey, page: { readonly afterSeq: number; readonly limit: number }): Promise<StoredLine[]>
  /** The same, then new lines as they come; ends when the signal is aborted or the stream is removed. */
  follow(stream: StreamKey, afterSeq: number, signal: AbortSignal): AsyncGenerator<StoredLine>
  /** The ids of all streams of a kind that have files, in no order. */
  streams(kind: StreamKind): AsyncIterable<string>
  /** Deletes a stream and its files. */
  remove(stream: StreamKey): Promise<void>
  /** Everything appended before the call survives the death of the machine. Rejects when the disk refuses. */
  flush(): Promise<void>
  /** Flushes and gives everything back. */
  close(): Promise<void>
}

const MiB = 1024 * 1024
/** State of so many streams stays in memory after they became idle: some hundred bytes each. */
const rememberedStreams = 1000

export function openLineStore(options: LineStoreOptions): LineStore {
  const table = new StreamTable(options)
  return {
    append: (key, lines) => (table.isClosed ? undefined : table.stream(key).append(lines)),
    tail: async (key, count, filter) => tailOf(await table.stream(key).snapshot(), count, filter),
    read: async (key, { afterSeq, limit }) => {
      const page = await readFrom(await table.stream(key).snapshot(), after(afterSeq), limit)
      return page.lines.slice(0, limit)
    },
    follow: (key, afterSeq, signal) => followFrom(() => table.stream(key), afterSeq, signal),
    streams: (kind) => idsBelow(join(options.directory, kind)),
    remove: (key) => table.remove(key),
    flush: () => table.flush(),
    close: () => table.close(),
  }
}

/** The streams that are known in this process, and which of them have a file open. */
class StreamTable {
  readonly #options: LineStoreOptions
  readonly #streams = new Map<string, LineStream>()
  /** The longest unused first. */
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
    const maxBytes = maxBytesPerStream[kind] ?? (kind === 'service' ? 64 : 50) * MiB
    const stream = new LineStream({
      directory: join(directory, key),
      limits: { segmentBytes, maxBytes },
      total: this.#total,
      clock,
      log,
      closing: this.#closing.signal,
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

  /** While files are open: brings what was written since the last round to the disk, closes what was not written. */
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

/** The part before the slash; both parts become names of directories. */
function checkedKind(key: StreamKey): StreamKind {
  const match = /^(service|deployment)\/[A-Za-z0-9_-]{1,100}$/.exec(key)
  if (!match) throw new Error(`"${key}" is no name of a log stream: expected service/<id> or deployment/<id>`)
  return match[1] === 'service' ? 'service' : 'deployment'
}

/** Waits for all, then throws the first error. */
async function settleAll(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
