/** The owner of an order: an organization or a cluster. Null: the platform. */
export type Owner = string | null

/** How many orders may run at the same time. */
export interface OrderLimits {
  /** All orders. */
  readonly all: number
  /** The orders of one owner. */
  readonly ofOne: number
  /** Orders beyond `all` for owners that have none. */
  readonly reserve: number
}

/**
 * Returns the names so that owners take turns, each in its order. Many names of one that fail delay
 * the names of others little. Pure.
 */
export function alternating<T>(due: readonly T[], ownerOf: (one: T) => Owner): readonly T[] {
  const counts = new Map<Owner, number>()
  const ranked = due.map((one) => {
    const rank = counts.get(ownerOf(one)) ?? 0
    counts.set(ownerOf(one), rank + 1)
    return { one, rank }
  })
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one)
}

/**
 * Returns the first name whose order may begin now, beside the orders of these owners that run.
 * Undefined if none may. Pure.
 */
export function nextOf<T>(
  waiting: Iterable<T>,
  running: Iterable<Owner>,
  { limits, ownerOf }: { readonly limits: OrderLimits; readonly ownerOf: (one: T) => Owner },
): T | undefined {
  const held = Map.groupBy(running, (owner) => owner)
  const all = [...held.values()].reduce((sum, { length }) => sum + length, 0)
  const mayBegin = (own: number): boolean => own < limits.ofOne && all < limits.all + (own === 0 ? limits.reserve : 0)
  for (const one of waiting) if (mayBegin(held.get(ownerOf(one))?.length ?? 0)) return one
  return undefined
}
