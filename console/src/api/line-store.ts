/** One line of a log. `number` counts from the first line that the store has received. */
export interface Line {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly pod: string
  readonly text: string
}

/** The lines that a store keeps. Older ones are dropped, so that a log of any length fits. */
export const mostLines = 50_000

/**
 * The newest lines of a log. Lines may arrive much faster than a screen is drawn, so listeners are
 * called once for all lines that arrive until `schedule` runs.
 */
export class LineStore {
  #lines: Line[] = []
  #received = 0
  #version = 0
  #isScheduled = false
  readonly #listeners = new Set<() => void>()
  readonly #schedule: (work: () => void) => void

  constructor(schedule: (work: () => void) => void) {
    this.#schedule = schedule
  }

  get lines(): readonly Line[] {
    return this.#lines
  }

  /** Differs after each change. */
  get version(): number {
    return this.#version
  }

  push(line: Omit<Line, 'number'>): void {
    this.#lines.push({ ...line, number: this.#received++ })
    // Cutting a long array costs as much as copying it, so a tenth is cut at a time.
    if (this.#lines.length > mostLines * 1.1) this.#lines = this.#lines.slice(-mostLines)
    this.#announce()
  }

  clear(): void {
    this.#lines = []
    this.#announce()
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
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
