import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeLine } from './line.ts'

/** A stream's files: each holds the lines from the number in its name on. */
export interface Segment {
  readonly firstSeq: number
  /** How much of the file is written; undefined: all of it, since it is not written any more. */
  readonly bytes?: number
}

/** Whole lines, and where in the file the block begins. */
export interface Block {
  readonly bytes: Buffer
  readonly offset: number
}

const newline = 0x0a
const chunkBytes = 256 * 1024

export const segmentPath = (directory: string, firstSeq: number): string =>
  join(directory, `${String(firstSeq).padStart(16, '0')}.log`)

/** Numbers of the first lines of a stream's segments, ascending; none where the directory does not exist. */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(orWhenAbsent<string[]>([]))
  const firstSeqs = names.filter((name) => /^\d{16}\.log$/.test(name)).map((name) => Number(name.slice(0, 16)))
  return firstSeqs.sort((a, b) => a - b)
}

/** Where the last whole line of a segment ends, and its number: `firstSeq - 1` when there is none. */
export async function findEnd(directory: string, segment: Segment): Promise<{ bytes: number; lastSeq: number }> {
  for await (const block of blocksBackward(directory, segment)) {
    for (const [start, end] of linesBackward(block.bytes)) {
      const line = decodeLine(block.bytes, start, end)
      if (line) return { bytes: block.offset + end + 1, lastSeq: line.seq }
    }
  }
  return { bytes: 0, lastSeq: segment.firstSeq - 1 }
}

/** Blocks from the end of the segment to its beginning. Bytes after the last newline are left out; a deleted file is empty. */
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
        // A file can be longer than its last whole line when the process died while it wrote.
        bytes = bytes.subarray(0, bytes.lastIndexOf(newline) + 1)
        if (bytes.length === 0) continue
        torn = false
      }
      // The first line of the chunk begins in the chunk before it.
      const cut = start === 0 ? 0 : bytes.indexOf(newline) + 1
      rest = bytes.subarray(0, cut)
      if (cut < bytes.length) yield { bytes: bytes.subarray(cut), offset: start + cut }
    }
  } finally {
    await file.close()
  }
}

/** Blocks from `offset` to the end of the segment. */
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

/** Start and newline of each line, oldest first. */
export function* linesForward(block: Buffer): Generator<readonly [start: number, end: number]> {
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(newline, start)
    yield [start, end]
    start = end + 1
  }
}

/** Start and newline of each line, newest first. */
export function* linesBackward(block: Buffer): Generator<readonly [start: number, end: number]> {
  for (let end = block.length - 1; end >= 0; ) {
    const start = end === 0 ? 0 : block.lastIndexOf(newline, end - 1) + 1
    yield [start, end]
    end = start - 1
  }
}

/** The oldest segments may be deleted while somebody reads. */
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

/** For `catch`: this value where the file or directory does not exist, the error otherwise. */
export function orWhenAbsent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return value
    throw error
  }
}
