import { type FileHandle, mkdir, open, rm, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { findEnd, listSegments, orWhenAbsent, type Segment, segmentPath } from './segments.ts'

export interface SegmentLimits {
  /** Bytes of a segment before a new one begins. */
  readonly segmentBytes: number
  /** Bytes of all segments of the stream together. */
  readonly maxBytes: number
}

/**
 * The writing end of one stream's files. Its calls must not overlap. A failed write leaves the
 * files unchanged and may be repeated. Lines for which `write` returned survive the death of the
 * process, and after `sync` that of the machine.
 */
export class SegmentWriter {
  readonly directory: string
  /** The number of the last written line. */
  lastSeq = 0
  /** The first line numbers of the segments before the current one. */
  #older: number[] = []
  #newest: { readonly firstSeq: number; bytes: number } | undefined
  #loaded = false
  #handle: FileHandle | undefined
  #unsynced = false
  #newFiles = false
  readonly #limits: SegmentLimits

  constructor(directory: string, limits: SegmentLimits) {
    this.directory = directory
    this.#limits = { ...limits, segmentBytes: Math.min(limits.segmentBytes, Math.floor(limits.maxBytes / 4)) }
  }

  /** Finds the end of the stream and cuts off a line that a crash left incomplete. */
  async load(): Promise<void> {
    if (this.#loaded) return
    const firstSeqs = await listSegments(this.directory)
    const newest = firstSeqs.pop()
    if (newest !== undefined) {
      const path = segmentPath(this.directory, newest)
      const end = await findEnd(this.directory, { firstSeq: newest })
      if (end.bytes < (await stat(path)).size) await truncate(path, end.bytes)
      this.#newest = { firstSeq: newest, bytes: end.bytes }
      this.lastSeq = end.lastSeq
    }
    this.#older = firstSeqs
    this.#loaded = true
  }

  /** Oldest first. */
  get segments(): Segment[] {
    const older = this.#older.map((firstSeq) => ({ firstSeq }))
    return this.#newest ? [...older, { ...this.#newest }] : older
  }

  get isOpen(): boolean {
    return this.#handle !== undefined
  }

  get isUnsynced(): boolean {
    return this.#unsynced
  }

  /** Appends complete lines, numbered from `lastSeq + 1` to `lastSeq`. */
  async write(bytes: Buffer, lastSeq: number): Promise<void> {
    let segment = this.#newest
    if (!segment || (segment.bytes > 0 && segment.bytes + bytes.length > this.#limits.segmentBytes)) {
      segment = await this.#startSegment(this.lastSeq + 1)
    }
    this.#handle ??= await open(segmentPath(this.directory, segment.firstSeq), 'r+')
    this.#unsynced = true
    for (let written = 0; written < bytes.length; ) {
      const position = segment.bytes + written
      written += (await this.#handle.write(bytes, written, bytes.length - written, position)).bytesWritten
    }
    segment.bytes += bytes.length
    this.lastSeq = lastSeq
  }

  async sync(): Promise<void> {
    if (this.#handle && this.#unsynced) await this.#handle.datasync()
    this.#unsynced = false
    const kind = dirname(this.directory)
    if (this.#newFiles) await syncDirectories([this.directory, kind, dirname(kind)])
    this.#newFiles = false
  }

  /** Closes the file descriptor. The next write opens it again. */
  async release(): Promise<void> {
    await this.sync()
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }

  /** Closes the file and forgets the end of the stream. The next `load` finds it again. */
  async forget(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    this.#older = []
    this.#newest = undefined
    this.#loaded = false
    this.#unsynced = false
    this.#newFiles = false
    await handle?.close()
  }

  async remove(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
    this.#older = []
    this.#newest = undefined
    this.lastSeq = 0
    this.#unsynced = false
    this.#newFiles = false
    this.#loaded = true
    await rm(this.directory, { recursive: true, force: true })
  }

  async #startSegment(firstSeq: number): Promise<{ firstSeq: number; bytes: number }> {
    // The full segment is flushed before the next one begins, so a power failure removes lines only
    // at the very end.
    await this.release()
    await mkdir(this.directory, { recursive: true, mode: 0o700 })
    this.#handle = await open(segmentPath(this.directory, firstSeq), 'w', 0o600)
    if (this.#newest) this.#older.push(this.#newest.firstSeq)
    const segment = { firstSeq, bytes: 0 }
    this.#newest = segment
    this.#newFiles = true
    await this.#trim()
    return segment
  }

  /** Deletes the oldest segments until the new one has room below the limit. */
  async #trim(): Promise<void> {
    const most = Math.floor(this.#limits.maxBytes / this.#limits.segmentBytes)
    while (this.#older.length >= most) {
      const oldest = this.#older.shift()
      if (oldest !== undefined) await rm(segmentPath(this.directory, oldest), { force: true })
    }
  }
}

/** Makes new file names survive the death of the machine. */
async function syncDirectories(directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    const handle = await open(directory, 'r').catch(orWhenAbsent(undefined))
    if (!handle) continue
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}
