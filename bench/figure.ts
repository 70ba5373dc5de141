import type { Paired } from './paired.ts'

/** One measured figure. `floor` and `ratio` are null where nothing stands beside it; times are milliseconds unless said. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the bare program that does the same took or gave, in the same run. */
  readonly floor: number | null
  /** `value` against `floor`: the median over the rounds, not the quotient of the two medians. */
  readonly ratio: number | null
  readonly goal: string
  readonly held: boolean
}

/** Several figures that one measurement gives. */
export interface Benchmark {
  readonly figures: readonly string[]
  measure(session: Session): Promise<Figure[]>
}

/** One run of the benchmarks. */
export interface Session {
  /** What is in here is undone at the end, also after a failure or an interrupt. */
  readonly ending: AsyncDisposableStack
  /** Progress, for people. */
  say(line: string): void
}

interface Goal {
  readonly text: string
  isHeld(measured: number): boolean
}

export const atMost = (limit: number): Goal => ({ text: `≤ ${limit}`, isHeld: (measured) => measured <= limit })
export const atLeast = (limit: number): Goal => ({ text: `≥ ${limit}`, isHeld: (measured) => measured >= limit })

/** A figure whose goal is a value. */
export const absolute = (name: string, value: number, unit: string, goal: Goal): Figure => ({
  name,
  value,
  unit,
  floor: null,
  ratio: null,
  goal: `${goal.text} ${unit}`,
  held: goal.isHeld(value),
})

/** A figure whose goal is a ratio to its floor. */
export const relative = (name: string, { value, floor, ratio }: Paired, unit: string, goal: Goal): Figure => ({
  name,
  value,
  unit,
  floor,
  ratio,
  goal: `${goal.text} × floor`,
  held: goal.isHeld(ratio),
})
