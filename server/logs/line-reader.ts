import { inTurn } from './in-turns.ts'
import { decodeLine, gapLine, type StoredLine, seqAt } from './line.ts'
import type { LineStream, Snapshot } from './line-stream.ts'
import { blocksBackward, blocksForward, linesBackward, linesForward } from './segments.ts'

/**
 * The position of a reader: after line `seq`, which ends at `offset` of the segment that begins
 * with `segment`.
 */
export interface Cursor {
  readonly seq: number
  readonly segment: number
  readonly offset: number
}

/** A cursor that knows nothing of the files yet. */
export const after = (seq: number): Cursor => ({ seq, segment: 0, offset: 0 })

/** Lines that are decoded before others have their turn. */
const sliceLines = 200

/**
 * Returns the last `count` lines that match the filter, oldest first, including markers of missing
 * lines.
 */
export async function tailOf(
  snapshot: Snapshot,
  count: number,
  filter?: (line: StoredLine) => boolean,
): Promise<StoredLine[]> {
  const found: StoredLine[] = []
  let next: StoredLine | undefined
  const take = (block: Buffer, lines: Iterator<readonly [start: number, end: number]>): boolean => {
    for (let taken = 0; taken < sliceLines && found.length < count; taken++) {
      const place = lines.next()
      if (place.done) return false
      const line = decodeLine(block, ...place.value)
      if (!line) continue
      if (next && next.seq > line.seq + 1) found.push(gapLine(line.seq + 1, next.seq - 1, next.at))
      next = line
      if (!filter || filter(line)) found.push(line)
    }
    return found.length < count
  }
  for (const segment of snapshot.segments.toReversed()) {
    for await (const { bytes } of blocksBackward(snapshot.directory, segment)) {
      const lines = linesBackward(bytes)
      while (await inTurn(() => take(bytes, lines)));
      if (found.length >= count) return found.slice(0, count).reverse()
    }
  }
  if (next && next.seq > 1) found.push(gapLine(1, next.seq - 1, next.at))
  return found.slice(0, count).reverse()
}

/** Returns lines after the cursor, at most `limit` plus a marker, and the cursor after them. */
export async function readFrom(
  snapshot: Snapshot,
  cursor: Cursor,
  limit: number,
): Promise<{ lines: StoredLine[]; cursor: Cursor }> {
  const lines: StoredLine[] = []
  let { seq } = cursor
  for (const [index, segment] of snapshot.segments.entries()) {
    const following = snapshot.segments[index + 1]
    if (following && following.firstSeq <= seq + 1) continue
    const from = segment.firstSeq === cursor.segment ? cursor.offset : 0
    for await (const block of blocksForward(snapshot.directory, segment, from)) {
      for (const [start, end] of linesForward(block.bytes)) {
        if (seqAt(block.bytes, start) <= seq) continue
        const line = decodeLine(block.bytes, start, end)
        if (!line) continue
        if (line.seq > seq + 1) lines.push(gapLine(seq + 1, line.seq - 1, line.at))
        lines.push(line)
        seq = line.seq
        const offset = block.offset + end + 1
        if (lines.length >= limit) return { lines, cursor: { seq, segment: segment.firstSeq, offset } }
      }
    }
  }
  const last = snapshot.segments.at(-1)
  if (!last) return { lines, cursor: after(cursor.seq) }
  return { lines, cursor: { seq: Math.max(seq, snapshot.lastSeq), segment: last.firstSeq, offset: last.bytes ?? 0 } }
}

const pageLines = 500

/**
 * Returns lines after `afterSeq`, then new ones as they are stored. It reads only after something
 * was appended.
 */
export async function* followFrom(
  find: () => LineStream,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<StoredLine> {
  const stream = find()
  stream.followers++
  try {
    // A number beyond the end, of a stream that was removed since, must not hide new lines.
    let cursor = after(Math.min(afterSeq, (await stream.snapshot()).lastSeq))
    while (!signal.aborted && !stream.isRemoved) {
      const page = await readFrom(await stream.snapshot(), cursor, pageLines)
      cursor = page.cursor
      for (const line of page.lines) {
        if (signal.aborted) return
        yield line
      }
      if (page.lines.length === 0) await stream.changed(cursor.seq, signal)
    }
  } finally {
    stream.followers--
  }
}
