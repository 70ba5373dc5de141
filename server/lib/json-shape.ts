/** What a text of JSON may be at most. */
export interface ShapeLimits {
  readonly bytes: number
  /** Values, names, lists and objects together. Each costs time and memory when it is parsed. */
  readonly parts: number
  readonly depth: number
}

const quote = 0x22
const backslash = 0x5c

export interface Shape {
  /** The parts that were counted until the end, or until the first limit. */
  readonly parts: number
  /** Why the text is beyond its limits, as the end of a sentence. */
  readonly beyond?: string
}

/**
 * Pure: measures a text of JSON. It takes time in proportion to the text, no memory, and ends at
 * the first limit. It does not check the syntax: the text may not be JSON.
 */
export function shapeOf(json: Uint8Array, { bytes, parts, depth: deepest }: ShapeLimits): Shape {
  if (json.length > bytes) return { parts: 0, beyond: `is longer than ${bytes / 2 ** 20} MiB` }
  let depth = 0
  let count = 1
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case quote:
        at = endOfString(json, at, json.length)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > deepest) return { parts: count, beyond: `is nested deeper than ${deepest} levels` }
        count++
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
      case 0x2c: // ,
      case 0x3a: // :
        count++
        break
    }
    if (count > parts) return { parts: count, beyond: `has more than ${parts} values` }
  }
  return { parts: count }
}

/** Returns the place of the quote that ends a string, or `to` without one. */
export function endOfString(json: Uint8Array, from: number, to: number): number {
  for (let at = from + 1; at < to; at++) {
    if (json[at] === backslash) at++
    else if (json[at] === quote) return at
  }
  return to
}
