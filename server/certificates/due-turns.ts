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
