import { ForeignJsonProblem, parseFar } from '../lib/foreign-json.ts'
import { endOfString } from '../lib/json-shape.ts'

/** A place in a text of JSON: the first byte and the byte after the last one. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** Values of one part. They are copied while they are summarized. */
export const mostParts = 1_000_000

const quote = 0x22
const comma = 0x2c
const colon = 0x3a

/** Whether a byte is a space between the values of JSON. */
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d

/** Returns a range without the blanks around it. */
function trimmed(json: Uint8Array, { from, to }: Range): Range {
  let [start, end] = [from, to]
  while (start < end && isBlank(json[start])) start++
  while (end > start && isBlank(json[end - 1])) end--
  return { from: start, to: end }
}

/** Lists the parts between the commas of an object or a list. The range has its brackets. */
function* partsOf(json: Uint8Array, { from, to }: Range): Generator<Range> {
  let depth = 0
  let start = from + 1
  for (let at = start; at < to - 1; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfString(json, at, to)
    else if (isOpening(byte)) depth++
    else if (isClosing(byte)) depth--
    else if (byte === comma && depth === 0) {
      yield trimmed(json, { from: start, to: at })
      start = at + 1
    }
  }
  const last = trimmed(json, { from: start, to: to - 1 })
  if (last.to > last.from) yield last
}

/** Returns the text at a place. */
const textOf = (json: Uint8Array, { from, to }: Range): string =>
  Buffer.from(json.buffer, json.byteOffset + from, to - from).toString()

const notJson = (): ForeignJsonProblem => new ForeignJsonProblem('is not JSON')

/**
 * Pure: returns the places of members of an object of JSON, by name. Reads no value, so a text of
 * any size needs no memory. Undefined if the text is not an object. Throws
 * ForeignJsonProblem if a member has no name or value. Other values may be invalid.
 */
export function findMembers(json: Uint8Array, names: readonly string[]): ReadonlyMap<string, Range> | undefined {
  const whole = trimmed(json, { from: 0, to: json.length })
  if (json[whole.from] !== 0x7b || json[whole.to - 1] !== 0x7d || whole.to - whole.from < 2) return undefined
  const found = new Map<string, Range>()
  for (const part of partsOf(json, whole)) {
    const end = endOfString(json, part.from, part.to)
    if (json[part.from] !== quote || end === part.to) throw notJson()
    const name = textOf(json, { from: part.from + 1, to: end })
    if (!names.includes(name)) continue
    const value = trimmed(json, { from: end + 1, to: part.to })
    if (json[value.from] !== colon) throw notJson()
    found.set(name, trimmed(json, { from: value.from + 1, to: value.to }))
  }
  return found
}

/** Parses the value at a place. Throws ForeignJsonProblem. */
export const parsePart = (json: Uint8Array, { from, to }: Range): unknown =>
  parseFar(json.subarray(from, to), mostParts)

/**
 * Parses the values of a list one by one. There are none if the place has no list. Throws
 * ForeignJsonProblem after `most` of them.
 */
export function* parseList(json: Uint8Array, place: Range, most: number): Generator<unknown> {
  if (json[place.from] !== 0x5b) return
  let count = 0
  for (const part of partsOf(json, place)) {
    if (++count > most) throw new ForeignJsonProblem(`has a list of more than ${most} values`)
    yield parsePart(json, part)
  }
}
