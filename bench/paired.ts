/** The medians over the rounds, with the quartiles of the ratio. */
export interface Paired {
  readonly value: number
  readonly floor: number
  readonly ratio: number
  readonly quartiles: readonly [number, number]
}

/**
 * Alternates floor and subject: floor, subject, floor, subject, …, floor. Each value of the subject
 * is compared with the mean of the two floors around it, so that a machine that gets slower slows
 * both. The subject may return several values a round.
 */
export async function paired<Name extends string>(
  rounds: number,
  floor: () => Promise<number>,
  subject: () => Promise<Readonly<Record<Name, number>>>,
): Promise<Record<Name, Paired>> {
  const floors = [await floor()]
  const values: Readonly<Record<Name, number>>[] = []
  for (let round = 0; round < rounds; round++) {
    values.push(await subject())
    floors.push(await floor())
  }
  return compare(floors, values)
}

/** Compares values with floors. `floors` has one more than `values`. */
export function compare<Name extends string>(
  floors: readonly number[],
  values: readonly Readonly<Record<Name, number>>[],
): Record<Name, Paired> {
  const around = values.map((_, round) => ((floors[round] ?? 0) + (floors[round + 1] ?? 0)) / 2)
  // Object.keys loses the type of the keys. Every round has the same ones.
  const names = Object.keys(values[0] ?? {}) as Name[]
  const figures = names.map((name) => {
    const own = values.map((value) => value[name])
    const ratios = own.map((value, round) => value / (around[round] ?? 0))
    const quartiles = [quantile(ratios, 0.25), quantile(ratios, 0.75)] as const
    return [name, { value: median(own), floor: median(floors), ratio: median(ratios), quartiles }] as const
  })
  // The entries have exactly these names.
  return Object.fromEntries(figures) as Record<Name, Paired>
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

/** Returns a quantile. Between two values, it is their weighted mean. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(at)] ?? Number.NaN, sorted[Math.ceil(at)] ?? Number.NaN]
  return low + (high - low) * (at - Math.floor(at))
}
