import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { encodeLine, type NewLine } from './line.ts'
import { LineQueue, type QueueTotal } from './line-queue.ts'
import { type SegmentLimits, SegmentWriter } from './segment-writer.ts'
import { findEnd, listSegments, type Segment } from './segments.ts'

export interface StreamOptions {
  readonly directory: string
  readonly limits: SegmentLimits
  readonly total: QueueTotal
  readonly clock: Clock
  readonly log: Logger
  /** Aborted when the store is closed. */
  readonly closing: AbortSignal
  /** Whether this process writes the files now. If not, it reads them from the disk each time. */
  readonly mayWrite: () => boolean
  /** Called when the stream opens a file. */
  readonly onOpen: (stream: LineStream) => void
}

/** The part of a stream that is on disk: lines up to `lastSeq`. */
export interface Snapshot {
  readonly directory: string
  readonly segments: readonly Segment[]
  readonly lastSeq: number
}

/** Bytes per batch. Encoding them blocks the event loop for only a few milliseconds. */
const batchBytes = 256 * 1024
const retryMs = 1000
/** The time between two looks at files that another process writes. */
const lookMs = 500

/** Reads the state of files that another process writes. */
async function readSnapshot(directory: string): Promise<Snapshot> {
  const firstSeqs = await listSegments(directory)
  const newest = firstSeqs.at(-1)
  if (newest === undefined) return { directory, segments: [], lastSeq: 0 }
  const { bytes, lastSeq } = await findEnd(directory, { firstSeq: newest })
  const older = firstSeqs.slice(0, -1).map((firstSeq) => ({ firstSeq }))
  return { directory, segments: [...older, { firstSeq: newest, bytes }], lastSeq }
}

/** One stream: a queue, a loop that writes it to the files, and the waiting readers and writers. */
export class LineStream {
  /** Number of followers. The stream is not removed from memory while it has some. */
  followers = 0
  isRemoved = false
  readonly #options: StreamOptions
  readonly #queue: LineQueue
  readonly #writer: SegmentWriter
  /** Serializes the calls that use the files. */
  #turn: Promise<unknown> = Promise.resolve()
  #turnsWaiting = 0
  #pumping = false
  #room: PromiseWithResolvers<void> | undefined
  #writtenWaiters: { readonly target: number; readonly waiter: PromiseWithResolvers<void> }[] = []
  readonly #changeListeners = new Set<() => void>()

  constructor(options: StreamOptions) {
    this.#options = options
    this.#queue = new LineQueue(options.total)
    this.#writer = new SegmentWriter(options.directory, options.limits)
  }

  /**
   * Queues lines. If the queue is long it returns a promise: wait for it before the next call, or
   * lines will be dropped.
   */
  append(lines: readonly NewLine[]): Promise<void> | undefined {
    for (const line of lines) this.#queue.push(line)
    if (!this.#pumping) void this.#pump()
    if (!this.#queue.isLong) return undefined
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  get isIdle(): boolean {
    const isUsed = this.#pumping || this.#turnsWaiting > 0 || this.followers > 0
    return !isUsed && this.#queue.isEmpty && !this.#writer.isOpen
  }

  get isUnsynced(): boolean {
    return this.#writer.isUnsynced
  }

  /**
   * Returns the readable part. It contains everything appended before the call, unless the disk
   * fails.
   */
  async snapshot(): Promise<Snapshot> {
    if (!this.#options.mayWrite()) return readSnapshot(this.#options.directory)
    if (!this.#queue.isEmpty || this.#pumping) await this.#written().catch(() => {})
    await this.#exclusive(() => this.#writer.load())
    return { directory: this.#writer.directory, segments: this.#writer.segments, lastSeq: this.#writer.lastSeq }
  }

  /** Waits until lines after `seq` exist, the stream was removed, or the signal is aborted. */
  async changed(seq: number, signal: AbortSignal): Promise<void> {
    const { clock, mayWrite } = this.#options
    if (this.isRemoved || signal.aborted) return
    if (!mayWrite()) return void (await clock.sleep(lookMs, signal).catch(() => {}))
    if (this.#writer.lastSeq > seq) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const onChange = () => resolve()
    this.#changeListeners.add(onChange)
    signal.addEventListener('abort', onChange)
    await promise
    this.#changeListeners.delete(onChange)
    signal.removeEventListener('abort', onChange)
  }

  /**
   * Makes everything appended before the call survive the death of the machine. Rejects if the disk
   * fails.
   */
  async flush(): Promise<void> {
    await this.#written()
    await this.sync()
  }

  sync(): Promise<void> {
    return this.#exclusive(() => this.#writer.sync())
  }

  /** Closes the file descriptor. */
  release(): Promise<void> {
    return this.#exclusive(() => this.#writer.release())
  }

  /** Forgets queued lines and the state of the files. Followers look at the files again. */
  async renew(): Promise<void> {
    this.#queue.clear()
    await this.#exclusive(() => this.#writer.forget())
    this.#wake()
  }

  async remove(): Promise<void> {
    this.isRemoved = true
    this.#queue.clear()
    await this.#exclusive(() => this.#writer.remove())
    this.#wake()
  }

  #written(): Promise<void> {
    if (this.#queue.isEmpty && !this.#pumping) return Promise.resolve()
    const waiter = Promise.withResolvers<void>()
    this.#writtenWaiters.push({ target: this.#queue.accepted, waiter })
    return waiter.promise
  }

  async #pump(): Promise<void> {
    this.#pumping = true
    // Lines that are appended in the same turn of the event loop are written together.
    await undefined
    while (!this.#queue.isEmpty) {
      const batch = this.#queue.take(batchBytes)
      while (!(await this.#exclusive(() => this.#write(batch)))) {
        await this.#options.clock.sleep(retryMs, this.#options.closing).catch(() => {})
        if (!this.#options.closing.aborted) continue
        this.#refuse(new Error('the line store was closed while lines could not be written'))
        this.#queue.clear()
        break
      }
      this.#wake()
    }
    this.#pumping = false
    this.#wake()
  }

  /**
   * Returns false if the disk failed. Callers that wait for the disk get the error, and the batch
   * is retried.
   */
  async #write(batch: readonly NewLine[]): Promise<boolean> {
    try {
      // Another process may write them by now. It collects these lines again.
      if (!this.#options.mayWrite()) return true
      await this.#writer.load()
      if (this.isRemoved) return true
      const first = this.#writer.lastSeq + 1
      const now = () => this.#options.clock.now()
      const text = batch.map((line, index) => encodeLine(first + index, line, now)).join('')
      await this.#writer.write(Buffer.from(text), first + batch.length - 1)
      this.#options.onOpen(this)
      return true
    } catch (error) {
      this.#options.log.warn({ err: error, directory: this.#options.directory }, 'log lines could not be written')
      const reason = new Error(`log lines could not be written below ${this.#options.directory}`, { cause: error })
      this.#refuse(reason)
      return false
    }
  }

  #refuse(reason: Error): void {
    for (const { waiter } of this.#writtenWaiters.splice(0)) waiter.reject(reason)
  }

  #wake(): void {
    if (this.#queue.isShort) {
      this.#room?.resolve()
      this.#room = undefined
    }
    const done = this.#pumping ? this.#queue.taken : this.#queue.accepted
    const ready = this.#writtenWaiters.filter(({ target }) => target <= done)
    this.#writtenWaiters = this.#writtenWaiters.filter(({ target }) => target > done)
    for (const { waiter } of ready) waiter.resolve()
    for (const listener of this.#changeListeners) listener()
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#turnsWaiting++
    const result = this.#turn.then(work).finally(() => this.#turnsWaiting--)
    this.#turn = result.catch(() => {})
    return result
  }
}
