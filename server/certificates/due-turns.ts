/** A host that is due, and the cluster whose routers serve it. */
interface Due {
  readonly host: string
  readonly place: string | null
}

/**
 * Returns the hosts of each cluster that has a turn, the cluster that waits longest first. Orders
 * of one cluster run one after the other, so a cluster that answers slowly delays no other. Pure.
 */
export const turnsOf = <T extends Due>(due: readonly T[], most: number): readonly (readonly T[])[] =>
  [...Map.groupBy(due, ({ place }) => place).values()].slice(0, most)

/**
 * Returns the hosts so that organizations take turns, each in its order. Many names of one that
 * fail delay the names of others little. Pure.
 */
export function alternating<T extends { readonly organization: string | null }>(due: readonly T[]): readonly T[] {
  const counts = new Map<string | null, number>()
  const ranked = due.map((one) => {
    const rank = counts.get(one.organization) ?? 0
    counts.set(one.organization, rank + 1)
    return { one, rank }
  })
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ one }) => one)
}
