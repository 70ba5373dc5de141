/** Lines with a length, of which a ring keeps the newest. */
interface Sized {
  readonly text: string
}

/** The most lines, and the most characters in them, that a ring keeps. */
export interface RingLimits {
  readonly lines: number
  readonly characters: number
}

/** The newest lines, in order. To add one and to drop the oldest takes a constant time. */
export class LineRing<L extends Sized> {
  readonly #limits: RingLimits
  readonly #slots: (L | undefined)[] = []
  #first = 0
  #length = 0
  #characters = 0

  constructor(limits: RingLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#length
  }

  /** Returns a line by its place, the oldest at 0. Undefined beyond the end. */
  at(index: number): L | undefined {
    return index < 0 || index >= this.#length ? undefined : this.#slots[(this.#first + index) % this.#limits.lines]
  }

  /** Adds a line. Calls `onDrop` with each line that it drops for it. */
  push(line: L, onDrop?: (line: L) => void): void {
    const dropOldest = (): void => {
      const dropped = this.shift()
      if (dropped) onDrop?.(dropped)
    }
    if (this.#length === this.#limits.lines) dropOldest()
    this.#slots[(this.#first + this.#length) % this.#limits.lines] = line
    this.#length++
    this.#characters += line.text.length
    while (this.#length > 1 && this.#characters > this.#limits.characters) dropOldest()
  }

  /** Removes the oldest line. */
  shift(): L | undefined {
    const line = this.at(0)
    if (!line) return undefined
    this.#slots[this.#first] = undefined
    this.#first = (this.#first + 1) % this.#limits.lines
    this.#length--
    this.#characters -= line.text.length
    return line
  }

  clear(): void {
    this.#slots.length = 0
    this.#first = 0
    this.#length = 0
    this.#characters = 0
  }
}
