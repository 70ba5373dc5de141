import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeLine } from './line.ts'

/** A stream's files. Each contains the lines from the number in its name on. */
export interface Segment {
  readonly firstSeq: number
  /** How much of the file is written. Undefined for all of it, if it is no longer being written. */
  readonly bytes?: number
}

/** Complete lines, and the position of the block in the file. */
export interface Block {
  readonly bytes: Buffer
  readonly offset: number
}

const newline = 0x0a
const chunkBytes = 256 * 1024

export const segmentPath = (directory: string, firstSeq: number): string =>
  join(directory, `${String(firstSeq).padStart(16, '0')}.log`)

/**
 * Returns the first line numbers of a stream's segments, ascending. Empty if the directory does not
 * exist.
 */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(orWhenAbsent<string[]>([]))
  const firstSeqs = names.filter((name) => /^\d{16}\.log$/.test(name)).map((name) => Number(name.slice(0, 16)))
  return firstSeqs.sort((a, b) => a - b)
}

/**
 * Returns the end of the last complete line of a segment, and its number: `firstSeq - 1` if there
 * is none.
 */
export async function findEnd(directory: string, segment: Segment): Promise<{ bytes: number; lastSeq: number }> {
  for await (const block of blocksBackward(directory, segment)) {
    for (const [start, end] of linesBackward(block.bytes)) {
      const line = decodeLine(block.bytes, start, end)
      if (line) return { bytes: block.offset + end + 1, lastSeq: line.seq }
    }
  }
  return { bytes: 0, lastSeq: segment.firstSeq - 1 }
}

/**
 * Reads blocks from the end of the segment to its beginning. Bytes after the last newline are
 * skipped. A deleted file is empty.
 */
export async function* blocksBackward(directory: string, segment: Segment): AsyncGenerator<Block> {
  const file = await openSegment(directory, segment)
  if (!file) return
  try {
    let rest = Buffer.alloc(0)
    let torn = true
    for (let position = await sizeOf(file, segment); position > 0; ) {
      const start = Math.max(0, position - chunkBytes)
      let bytes = Buffer.concat([await readAt(file, start, position - start), rest])
      position = start
      if (torn) {
        // A file may be longer than its last complete line if the process died while writing.
        bytes = bytes.subarray(0, bytes.lastIndexOf(newline) + 1)
        if (bytes.length === 0) continue
        torn = false
      }
      // The first line of the chunk begins in the previous chunk.
      const cut = start === 0 ? 0 : bytes.indexOf(newline) + 1
      rest = bytes.subarray(0, cut)
      if (cut < bytes.length) yield { bytes: bytes.subarray(cut), offset: start + cut }
    }
  } finally {
    await file.close()
  }
}

/** Reads blocks from `offset` to the end of the segment. */
export async function* blocksForward(directory: string, segment: Segment, offset: number): AsyncGenerator<Block> {
  if (segment.bytes !== undefined && offset >= segment.bytes) return
  const file = await openSegment(directory, segment)
  if (!file) return
  try {
    const size = await sizeOf(file, segment)
    let wanted = chunkBytes
    for (let position = offset; position < size; ) {
      const bytes = await readAt(file, position, Math.min(wanted, size - position))
      const whole = bytes.lastIndexOf(newline) + 1
      if (whole > 0) yield { bytes: bytes.subarray(0, whole), offset: position }
      else if (bytes.length < wanted) return
      // A line longer than the chunk: read more at once.
      wanted = whole > 0 ? chunkBytes : wanted * 2
      position += whole
    }
  } finally {
    await file.close()
  }
}

/** Lists start and newline of each line, oldest first. */
export function* linesForward(block: Buffer): Generator<readonly [start: number, end: number]> {
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(newline, start)
    yield [start, end]
    start = end + 1
  }
}

/** Lists start and newline of each line, newest first. */
export function* linesBackward(block: Buffer): Generator<readonly [start: number, end: number]> {
  for (let end = block.length - 1; end >= 0; ) {
    const start = end === 0 ? 0 : block.lastIndexOf(newline, end - 1) + 1
    yield [start, end]
    end = start - 1
  }
}

/** The oldest segments may be deleted during a read. */
const openSegment = (directory: string, segment: Segment): Promise<FileHandle | undefined> =>
  open(segmentPath(directory, segment.firstSeq), 'r').catch(orWhenAbsent(undefined))

const sizeOf = async (file: FileHandle, segment: Segment): Promise<number> => segment.bytes ?? (await file.stat()).size

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/**
 * For `catch`: returns this value if the file or directory does not exist, and rethrows other
 * errors.
 */
export function orWhenAbsent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value
    throw error
  }
}
