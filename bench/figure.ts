import type { Paired } from './paired.ts'

/**
 * One measured figure. `floor` and `ratio` are null without a floor. Times are in milliseconds by
 * default.
 */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The value of the bare program for the same work, in the same run. */
  readonly floor: number | null
  /** `value` to `floor`: the median over the rounds, not the ratio of the two medians. */
  readonly ratio: number | null
  readonly goal: string
  readonly held: boolean
}

/** A measurement of several figures. */
export interface Benchmark {
  readonly figures: readonly string[]
  /** A name that selects these figures together with those of other measurements. */
  readonly group?: string
  measure(session: Session): Promise<Figure[]>
}

/** One run of the benchmarks. */
export interface Session {
  /** Cleanups that run at the end, also after a failure or an interrupt. */
  readonly ending: AsyncDisposableStack
  /** Prints progress for people. */
  say(line: string): void
}

interface Goal {
  readonly text: string
  isHeld(measured: number): boolean
}

export const atMost = (limit: number): Goal => ({ text: `≤ ${limit}`, isHeld: (measured) => measured <= limit })
export const atLeast = (limit: number): Goal => ({ text: `≥ ${limit}`, isHeld: (measured) => measured >= limit })

/** Returns a figure whose goal is a value. */
export const absolute = (name: string, value: number, unit: string, goal: Goal): Figure => ({
  name,
  value,
  unit,
  floor: null,
  ratio: null,
  goal: `${goal.text} ${unit}`,
  held: goal.isHeld(value),
})

/** Returns a figure whose goal is a ratio to its floor. */
export const relative = (name: string, { value, floor, ratio }: Paired, unit: string, goal: Goal): Figure => ({
  name,
  value,
  unit,
  floor,
  ratio,
  goal: `${goal.text} × floor`,
  held: goal.isHeld(ratio),
})
