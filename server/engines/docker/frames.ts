/**
 * One piece of output as Docker frames it: for logs exactly one line, or a part of a very long one.
 */
export interface Frame {
  readonly stream: 'stdout' | 'stderr'
  readonly payload: Buffer
}

/** One line with the time at which the daemon read it. */
export interface TimedLine {
  /** RFC 3339 with nine decimals, always of the same length: sorts as text. */
  readonly at: string
  readonly stream: Frame['stream']
  readonly text: string
}

/** A longer line is split. */
const maxLineBytes = 256 * 1024

/**
 * Parses Docker's stream format: a header of eight bytes (stream number, length), then that many
 * bytes.
 */
export async function* frames(source: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let pending: Buffer[] = []
  let held = 0
  let wanted = 8
  for await (const chunk of source) {
    pending.push(chunk)
    held += chunk.length
    if (held < wanted) continue
    let rest = pending.length === 1 ? chunk : Buffer.concat(pending)
    while (rest.length >= 8) {
      const end = 8 + rest.readUInt32BE(4)
      if (rest.length < end) break
      yield { stream: rest[0] === 2 ? 'stderr' : 'stdout', payload: rest.subarray(8, end) }
      rest = rest.subarray(end)
    }
    pending = [rest]
    held = rest.length
    wanted = rest.length >= 8 ? 8 + rest.readUInt32BE(4) : 8
  }
}

/**
 * Joins the parts of long lines and removes the timestamps. The last line may have no line feed.
 */
export async function* timedLines(source: AsyncIterable<Frame>): AsyncGenerator<TimedLine> {
  const open = new Map<Frame['stream'], { at: string; parts: Buffer[]; bytes: number }>()
  for await (const { stream, payload } of source) {
    const space = payload.indexOf(0x20)
    const text = payload.subarray(space + 1)
    const line = open.get(stream) ?? { at: payload.subarray(0, space).toString(), parts: [], bytes: 0 }
    line.parts.push(text)
    line.bytes += text.length
    const isWhole = text.at(-1) === 0x0a
    if (isWhole || line.bytes >= maxLineBytes) {
      open.delete(stream)
      yield finished(stream, line)
    } else {
      open.set(stream, line)
    }
  }
  for (const [stream, line] of open) yield finished(stream, line)
}

const finished = (stream: Frame['stream'], line: { at: string; parts: readonly Buffer[] }): TimedLine => ({
  at: line.at,
  stream,
  text: Buffer.concat(line.parts)
    .toString()
    .replace(/\r?\n$/, ''),
})

/**
 * The time of the last line of each stream; '' before the first. Docker orders the timestamps
 * within a stream, but not across both.
 */
export type Cursor = Record<Frame['stream'], string>

export const cursorAt = (after = ''): Cursor => ({ stdout: after, stderr: after })

/**
 * Returns only lines after the cursor, and advances it: Docker repeats lines when its log file is
 * rotated, and its `since` is inclusive.
 */
export async function* onlyNew(source: AsyncIterable<TimedLine>, cursor: Cursor): AsyncGenerator<TimedLine> {
  for await (const line of source) {
    if (line.at <= cursor[line.stream]) continue
    cursor[line.stream] = line.at
    yield line
  }
}
