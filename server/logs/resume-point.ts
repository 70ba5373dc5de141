import type { StoredLine } from './line.ts'

/** The identity of a run-time line. */
export interface LineIdentity {
  readonly at: string
  readonly replica: string
  readonly container?: string
  readonly stream: string
  readonly text: string
}

/** `gap`: the line is new, and lines between it and the last stored line may be missing. */
export type Novelty = 'new' | 'stored' | 'gap'

/** How many of the last stored lines are examined. */
export const resumeLines = 2000

/** Nanoseconds by which lines of different replicas may be stored out of order. */
const disorderNs = 2_000_000_000n
/** A source that reported this shortly before the break is expected to exist after it. */
const activeNs = 10_000_000_000n

interface Source {
  readonly at: bigint
  /** Texts with exactly this time, because several lines may share one. */
  readonly texts: string[]
  seenAgain: boolean
}

/**
 * Decides where reading an engine's lines resumes after a break, from the last stored lines. Each
 * stream of each container is in order of time, so the last stored line of each is enough to
 * distinguish stored from new lines. The engine is read from shortly before them. A source that
 * returns without its last stored line has lost lines. If the engine's clock was set back, lines
 * may be stored twice, but none is lost.
 */
export class ResumePoint {
  /** For `LogQuery.after`. Undefined means everything that the engine has. */
  readonly after: string | undefined
  readonly #sources = new Map<string, Source>()
  #newest = 0n

  constructor(stored: readonly StoredLine[]) {
    const lines = stored.filter((line) => line['marker'] === undefined)
    for (const line of lines.toReversed()) this.#remember(line)
    const times = BigInt64Array.from([...this.#sources.values()].map((source) => source.at)).sort()
    const [oldestSource] = times
    if (oldestSource === undefined) return
    this.#newest = times.at(-1) ?? oldestSource
    // Before the examined lines, stored and new ones could not be distinguished: the middle of
    // these three.
    const isAll = stored.length < resumeLines
    const [oldestLine = 0n] = isAll ? [] : BigInt64Array.from(lines.map((line) => nanoseconds(line.at))).sort()
    const [, start = oldestSource] = BigInt64Array.from([oldestLine, this.#newest - disorderNs, oldestSource]).sort()
    this.after = timeText(start - 1n)
  }

  /** Whether every source has passed its last stored line, so that all further lines are new. */
  get isPassed(): boolean {
    return this.#sources.size === 0
  }

  judge(line: LineIdentity): Novelty {
    if (this.isPassed) return 'new'
    const at = nanoseconds(line.at)
    if (at === 0n) return 'new'
    const source = this.#sources.get(sourceOf(line))
    if (source && at < source.at) return 'stored'
    if (source && at === source.at) {
      source.seenAgain = true
      const index = source.texts.indexOf(line.text)
      if (index < 0) return 'new'
      source.texts.splice(index, 1)
      return 'stored'
    }
    this.#sources.delete(sourceOf(line))
    const isLost = (source !== undefined && !source.seenAgain) || (at > this.#newest + disorderNs && this.#forgetGone())
    return isLost ? 'gap' : 'new'
  }

  /**
   * Time has passed the break, so sources that did not show their last line will not. Returns true
   * if one of them was active.
   */
  #forgetGone(): boolean {
    let isLost = false
    for (const [name, source] of this.#sources) {
      if (source.seenAgain) continue
      this.#sources.delete(name)
      if (source.at > this.#newest - activeNs) isLost = true
    }
    return isLost
  }

  #remember(line: StoredLine): void {
    const name = sourceOf(line)
    const source = this.#sources.get(name)
    const at = nanoseconds(line.at)
    if (!source) this.#sources.set(name, { at, texts: [String(line['text'])], seenAgain: false })
    else if (source.at === at) source.texts.push(String(line['text']))
  }
}

const sourceOf = (line: { readonly [field: string]: unknown } | LineIdentity): string =>
  `${line['replica']}\n${line['container'] ?? ''}\n${line['stream']}`

/**
 * Parses an RFC 3339 text with up to nine digits of fraction into nanoseconds since 1970. Returns 0
 * for other texts.
 */
export function nanoseconds(at: string): bigint {
  const [, seconds = '', fraction = '', zone = 'Z'] = /^([^.Z+]+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(at) ?? []
  const ms = Date.parse(seconds + zone)
  if (Number.isNaN(ms)) return 0n
  return BigInt(ms) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}

/** RFC 3339 with nanoseconds. */
function timeText(ns: bigint): string {
  const seconds = ns / 1_000_000_000n
  const fraction = String(ns % 1_000_000_000n).padStart(9, '0')
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${fraction}Z`
}
