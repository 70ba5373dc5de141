import { markerLine, maxTextBytes, type NewLine } from './line.ts'

/** Bytes in memory of all queues of a store. */
export interface QueueTotal {
  bytes: number
}

export const queueLimits = {
  /** Beyond this size producers are asked to wait. */
  waitBytes: 4 * 1024 * 1024,
  /** The same if all queues together are larger than `totalBytes`. */
  crowdedBytes: 128 * 1024,
  totalBytes: 96 * 1024 * 1024,
  /**
   * Beyond this size lines are dropped, because the producer did not wait and the disk is too slow.
   */
  dropBytes: 8 * 1024 * 1024,
}

/** Estimated memory of a line besides its text, in bytes. */
const lineOverheadBytes = 200

/**
 * Lines of one stream that wait for the disk. The queue is limited. Lines beyond it are counted,
 * and a marker reports their number.
 */
export class LineQueue {
  bytes = 0
  /**
   * Counts of all accepted and all taken lines. `flush` waits until the second reaches the first.
   */
  accepted = 0
  taken = 0
  #lines: NewLine[] = []
  #dropped = 0
  readonly #total: QueueTotal

  constructor(total: QueueTotal) {
    this.#total = total
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#dropped === 0
  }

  get isLong(): boolean {
    return this.bytes >= this.#waitBytes
  }

  /** Short enough for waiting producers to continue. */
  get isShort(): boolean {
    return this.bytes < this.#waitBytes / 2
  }

  get #waitBytes(): number {
    return this.#total.bytes > queueLimits.totalBytes ? queueLimits.crowdedBytes : queueLimits.waitBytes
  }

  push(line: NewLine): void {
    if (this.bytes >= queueLimits.dropBytes) {
      this.#dropped++
      return
    }
    this.#tellDropped()
    this.#add(line)
  }

  /** Returns the next lines in order: at least one, and about this many bytes at most. */
  take(maxBytes: number): NewLine[] {
    let bytes = 0
    let count = 0
    while (count < this.#lines.length && bytes < maxBytes) bytes += bytesOf(this.#lines[count++])
    const lines = this.#lines.slice(0, count)
    this.#lines = this.#lines.slice(count)
    this.bytes -= bytes
    this.#total.bytes -= bytes
    this.taken += lines.length
    if (this.#lines.length === 0) this.#tellDropped()
    return lines
  }

  /** Discards everything. */
  clear(): void {
    this.#total.bytes -= this.bytes
    this.bytes = 0
    this.taken = this.accepted
    this.#lines = []
    this.#dropped = 0
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return
    const text = `${this.#dropped} lines dropped: they came faster than they could be stored`
    this.#add(markerLine('dropped', text, { lines: this.#dropped }))
    this.#dropped = 0
  }

  #add(line: NewLine): void {
    const bytes = bytesOf(line)
    this.#lines.push(line)
    this.bytes += bytes
    this.#total.bytes += bytes
    this.accepted++
  }
}

const bytesOf = (line: NewLine | undefined): number =>
  Math.min(line?.text?.length ?? 0, maxTextBytes) + lineOverheadBytes
