import { markerLine, maxTextBytes, type NewLine } from './line.ts'

/** Bytes in memory over all queues of a store. */
export interface QueueTotal {
  bytes: number
}

export const queueLimits = {
  /** From here on producers are asked to wait. */
  waitBytes: 4 * 1024 * 1024,
  /** The same when all queues together hold more than `totalBytes`. */
  crowdedBytes: 128 * 1024,
  totalBytes: 96 * 1024 * 1024,
  /** From here on lines are dropped: the producer did not wait and the disk does not keep up. */
  dropBytes: 8 * 1024 * 1024,
}

/** Roughly what a line holds in memory besides its text. */
const lineOverheadBytes = 200

/** Lines of one stream on their way to the disk. Bounded: what does not fit is counted, and a marker tells how many. */
export class LineQueue {
  bytes = 0
  /** Lines ever accepted, and ever taken: `flush` waits until the second reaches the first. */
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

  /** Short enough for producers that wait to go on. */
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

  /** The next lines in order, at most about this many bytes, at least one line. */
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

  /** Forgets everything. */
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
