import type { StoredLine } from './line.ts'

/** What tells a run-time line from others. */
export interface LineIdentity {
  readonly at: string
  readonly replica: string
  readonly stream: string
  readonly text: string
}

/** `gap`: new, and what came between it and the last stored line is not certain to be here. */
export type Novelty = 'new' | 'stored' | 'gap'

/** How many of the last stored lines are looked at. */
export const resumeLines = 2000

/** Lines of different replicas may be stored this much out of order. */
const disorderNs = 2_000_000_000n
/** A source that reported so shortly before the break is expected to be still there after it. */
const activeNs = 10_000_000_000n

interface Source {
  readonly at: bigint
  /** Texts stored with exactly this time: several lines may share one. */
  readonly texts: string[]
  seenAgain: boolean
}

/**
 * Where reading an engine's lines goes on after a break, from the last stored lines. Each stream of each replica is in
 * order of time, so the last stored line of each is enough to tell stored from new; the engine is asked from just before
 * these on, and a source that comes back without its last stored line has lost lines. When the engine's clock was set
 * back, lines may be stored twice, but none is lost.
 */
export class ResumePoint {
  /** For `LogQuery.after`; undefined: everything that the engine has. */
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
    // Further back than the lines looked at, stored lines could not be told from new ones: the middle of these three.
    const isAll = stored.length < resumeLines
    const [oldestLine = 0n] = isAll ? [] : BigInt64Array.from(lines.map((line) => nanoseconds(line.at))).sort()
    const [, start = oldestSource] = BigInt64Array.from([oldestLine, this.#newest - disorderNs, oldestSource]).sort()
    this.after = timeText(start - 1n)
  }

  /** Whether every source is known to have gone past its last stored line: all further lines are new. */
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

  /** Time has gone past the break: sources that did not show their last line will not. True when an active one is among them. */
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
  `${line['replica']}\n${line['stream']}`

/** Nanoseconds since 1970 of an RFC 3339 text with up to nine digits of fraction; 0 where it is none. */
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
