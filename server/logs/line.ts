import { crc32 } from 'node:zlib'
import { derivedId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'

/**
 * A stored line and its format on disk: `<crc32, 8 hex digits> <seq> <JSON of the fields>\n`. JSON
 * contains no newline, so a line that a crash cut off has no newline or a wrong checksum.
 */

/** Run-time lines of one service, or the reports of one deployment (by its execution id). */
export type StreamKey = `${StreamKind}/${string}`
export type StreamKind = 'service' | 'deployment'

/** A line to store. `at`: RFC 3339, stored unchanged. Without it the current time is used. */
export interface NewLine {
  readonly seq?: never
  readonly at?: string
  readonly text?: string
  readonly [field: string]: Json | undefined
}

/**
 * A stored line. `seq` grows strictly within its stream. The log itself writes lines with a
 * `marker`: `gap` means that lines are missing before the next one, `dropped` that more came than
 * could be stored.
 */
export interface StoredLine {
  readonly seq: number
  readonly at: string
  readonly [field: string]: Json | undefined
}

export type Marker = 'gap' | 'dropped'

/** Maximum length of one line's text, in bytes of UTF-8. The rest is cut off and reported. */
export const maxTextBytes = 16 * 1024

/** Returns the id of a line for the API. The same line always has the same id. */
export const lineId = (stream: StreamKey, seq: number): string => derivedId('line', stream, String(seq))

/**
 * Returns the text to store. Valid UTF-8 is unchanged, including control characters and escape
 * sequences. Each NUL and each unpaired surrogate becomes U+FFFD (invalid UTF-8 became that when it
 * was read). Texts over 16 kB are truncated between two characters.
 */
export function storedText(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', '\ufffd')
  // A UTF-16 unit has at most three bytes of UTF-8, so short texts need no counting.
  if (clean.length * 3 <= maxTextBytes) return clean
  const bytes = Buffer.byteLength(clean)
  if (bytes <= maxTextBytes) return clean
  const head = Buffer.from(clean.slice(0, maxTextBytes))
  let end = maxTextBytes
  while (((head[end] ?? 0) & 0xc0) === 0x80) end--
  return `${head.toString('utf8', 0, end)} … [line cut: ${bytes - end} more bytes]`
}

/** A line written by the log itself. */
export const markerLine = (marker: Marker, text: string, fields: { at?: string; lines?: number } = {}): NewLine => ({
  ...fields,
  marker,
  text,
})

/**
 * A marker for the missing lines from `first` to `last`. It has the last missing number, so reading
 * continues after it.
 */
export function gapLine(first: number, last: number, at: string): StoredLine {
  const lines = last - first + 1
  const text = lines === 1 ? '1 line is not kept any more' : `${lines} lines are not kept any more`
  return { seq: last, at, marker: 'gap' satisfies Marker, lines, text }
}

/** Encodes one line for the disk, including its newline. */
export function encodeLine(seq: number, line: NewLine, now: () => Date): string {
  const text = line.text === undefined ? undefined : storedText(line.text)
  const at = line.at ?? now().toISOString()
  let json = JSON.stringify(text === line.text && line.at !== undefined ? line : { ...line, at, text })
  if (json.includes('\\u0000') || json.includes('\\ud')) json = JSON.stringify(JSON.parse(json), cleaned)
  const body = `${seq} ${json}`
  return `${(crc32(body) + 0x1_0000_0000).toString(16).slice(1)} ${body}\n`
}

const cleaned = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value

const space = 0x20
const checksumLength = 8

/** Returns the number of the line that begins at `start`, or 0 if it is unreadable. */
export function seqAt(block: Buffer, start: number): number {
  let seq = 0
  for (let index = start + checksumLength + 1; ; index++) {
    const byte = block[index]
    if (byte === space) return seq
    if (byte === undefined || byte < 0x30 || byte > 0x39 || index > start + 25) return 0
    seq = seq * 10 + byte - 0x30
  }
}

/** Decodes the line between `start` and its newline at `end`. Undefined if it is damaged. */
export function decodeLine(block: Buffer, start: number, end: number): StoredLine | undefined {
  const bodyStart = start + checksumLength + 1
  if (end <= bodyStart) return undefined
  const checksum = Number.parseInt(block.toString('latin1', start, bodyStart - 1), 16)
  if (checksum !== crc32(block.subarray(bodyStart, end))) return undefined
  const body = block.toString('utf8', bodyStart, end)
  const gap = body.indexOf(' ')
  // The checksum proves that `encodeLine` wrote these bytes: an object with `at`.
  const fields = JSON.parse(body.slice(gap + 1)) as Omit<StoredLine, 'seq'> & { at: string }
  return { ...fields, seq: Number(body.slice(0, gap)) }
}
