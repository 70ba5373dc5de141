import { crc32 } from 'node:zlib'
import { derivedId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'

/**
 * What a stored line is, and how it stands on disk: `<crc32, 8 hex digits> <seq> <JSON of the fields>\n`. JSON holds no
 * newline, so a line that was torn by a crash is one without its newline or with a wrong checksum.
 */

/** Run-time lines of one service, or what one deployment (by its execution id) reported. */
export type StreamKey = `${StreamKind}/${string}`
export type StreamKind = 'service' | 'deployment'

/** A line as handed in. `at`: RFC 3339, kept as the text that it is; without it, the time of storing. */
export interface NewLine {
  readonly seq?: never
  readonly at?: string
  readonly text?: string
  readonly [field: string]: Json | undefined
}

/**
 * A line as kept. `seq` grows strictly within its stream. Lines with `marker` were written by the log itself, not by the
 * application: `gap` = lines are missing before the next one, `dropped` = more came than could be kept.
 */
export interface StoredLine {
  readonly seq: number
  readonly at: string
  readonly [field: string]: Json | undefined
}

export type Marker = 'gap' | 'dropped'

/** Longest text of one line, in bytes of UTF-8; the rest is cut off and the cut is told. */
export const maxTextBytes = 16 * 1024

/** The id of a line for the API: the same line has the same id, always. */
export const lineId = (stream: StreamKey, seq: number): string => derivedId('line', stream, String(seq))

/**
 * The text as it is kept. Valid UTF-8 stays byte for byte, control characters and escape sequences included; each NUL and
 * each half of a broken surrogate pair becomes U+FFFD (bytes that are no UTF-8 became that when they were read); texts
 * over 16 kB are cut between two characters.
 */
export function storedText(text: string): string {
  const clean = text.toWellFormed().replaceAll('\0', '\ufffd')
  // One UTF-16 unit is at most three bytes of UTF-8: short texts need no counting.
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

/** Stands where lines from `first` to `last` are missing; it has the last missing number, so that reading goes on after it. */
export function gapLine(first: number, last: number, at: string): StoredLine {
  const lines = last - first + 1
  const text = lines === 1 ? '1 line is not kept any more' : `${lines} lines are not kept any more`
  return { seq: last, at, marker: 'gap' satisfies Marker, lines, text }
}

/** One line for the disk, newline included. */
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

/** The number of the line that begins at `start`; 0 where none can be read. */
export function seqAt(block: Buffer, start: number): number {
  let seq = 0
  for (let index = start + checksumLength + 1; ; index++) {
    const byte = block[index]
    if (byte === space) return seq
    if (byte === undefined || byte < 0x30 || byte > 0x39 || index > start + 25) return 0
    seq = seq * 10 + byte - 0x30
  }
}

/** The line between `start` and its newline at `end`; undefined when it is damaged. */
export function decodeLine(block: Buffer, start: number, end: number): StoredLine | undefined {
  const bodyStart = start + checksumLength + 1
  if (end <= bodyStart) return undefined
  const checksum = Number.parseInt(block.toString('latin1', start, bodyStart - 1), 16)
  if (checksum !== crc32(block.subarray(bodyStart, end))) return undefined
  const body = block.toString('utf8', bodyStart, end)
  const gap = body.indexOf(' ')
  // The checksum says that these are the bytes that `encodeLine` wrote: an object with `at`.
  const fields = JSON.parse(body.slice(gap + 1)) as Omit<StoredLine, 'seq'> & { at: string }
  return { ...fields, seq: Number(body.slice(0, gap)) }
}
