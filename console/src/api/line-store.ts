import { LineRing, type RingLimits } from './line-ring.ts'

/** One line of a log. `number` counts from the first line that the store has received. */
export interface Line {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly pod: string
  readonly text: string
}

/** A log of any length fits into the memory of a page, because older lines are dropped. */
export const usualLimits: RingLimits = { lines: 50_000, characters: 16_000_000 }
/** A service that fails again and again has a new replica each time. */
const mostPods = 100

/**
 * The newest lines of a log, and those of them that match a filter. Lines may arrive much faster
 * than a screen is drawn, so listeners are called once for all lines that arrive until `schedule`
 * runs.
 */
export class LineStore {
  readonly #schedule: (work: () => void) => void
  readonly #all: LineRing<Line>
  /** The lines that match, if there is a filter. */
  readonly #matching: LineRing<Line>
  /** The lines that arrived while the store holds. */
  readonly #waiting: LineRing<Line>
  readonly #listeners = new Set<() => void>()
  readonly #pods = new Set<string>()
  #fits: ((line: Line) => boolean) | undefined
  #received = 0
  #heldAt: number | undefined
  #version = 0
  #isScheduled = false

  constructor(schedule: (work: () => void) => void, limits: RingLimits = usualLimits) {
    this.#schedule = schedule
    this.#all = new LineRing(limits)
    this.#matching = new LineRing(limits)
    this.#waiting = new LineRing(limits)
  }

  /** The lines that match the filter, oldest first. */
  get lines(): Pick<LineRing<Line>, 'length' | 'at'> {
    return this.#fits ? this.#matching : this.#all
  }

  /** The number of all lines that the store keeps, whether they match or not. */
  get kept(): number {
    return this.#all.length
  }

  /** The replicas that printed the lines, in the order of their first one. */
  get pods(): ReadonlySet<string> {
    return this.#pods
  }

  /** Returns the place of a line among those that match. Undefined if it is not among them. */
  placeOf(number: number): number | undefined {
    const { lines } = this
    let [low, high] = [0, lines.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((lines.at(middle)?.number ?? 0) < number) low = middle + 1
      else high = middle
    }
    return lines.at(low)?.number === number ? low : undefined
  }

  /** Differs after each change. */
  get version(): number {
    return this.#version
  }

  /** The number of lines that arrived since it holds. Undefined while it does not. */
  get waiting(): number | undefined {
    return this.#heldAt === undefined ? undefined : this.#received - this.#heldAt
  }

  push(line: Omit<Line, 'number'>): void {
    const numbered = { ...line, number: this.#received++ }
    if (line.pod !== '' && this.#pods.size < mostPods) this.#pods.add(line.pod)
    if (this.#heldAt === undefined) this.#add(numbered)
    else this.#waiting.push(numbered)
    this.#announce()
  }

  /** Forgets all lines, and no longer holds. */
  clear(): void {
    for (const ring of [this.#all, this.#matching, this.#waiting]) ring.clear()
    this.#pods.clear()
    this.#heldAt = undefined
    this.#announce()
  }

  /** Keeps the lines as they are. New ones wait. */
  hold(): void {
    this.#heldAt ??= this.#received
    this.#announce()
  }

  /** Adds the waiting lines. */
  release(): void {
    this.#heldAt = undefined
    for (let line = this.#waiting.shift(); line; line = this.#waiting.shift()) this.#add(line)
    this.#announce()
  }

  /** Shows the lines that match. Undefined means all of them. */
  filter(fits: ((line: Line) => boolean) | undefined): void {
    this.#fits = fits
    this.#matching.clear()
    for (let index = 0; fits && index < this.#all.length; index++) {
      const line = this.#all.at(index)
      if (line && fits(line)) this.#matching.push(line)
    }
    this.#announce()
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #add(line: Line): void {
    this.#all.push(line, (dropped) => {
      if (this.#matching.at(0) === dropped) this.#matching.shift()
    })
    if (this.#fits?.(line)) this.#matching.push(line)
  }

  #announce(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#schedule(() => {
      this.#isScheduled = false
      this.#version++
      for (const listener of this.#listeners) listener()
    })
  }
}
