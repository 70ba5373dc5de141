import type { Sql } from '../database/index.ts'
import { judge, liveEndpoints, mostReplicasOf } from './decide.ts'
import { listCarriedOver, type WishRow } from './observation-store.ts'
import type { Seen } from './settled.ts'

/**
 * Returns the services that run as they should, whose observation is stored and whose hosts lead to
 * their replicas. Nothing has to be written for them. One statement finds them all, which counts
 * when a server starts.
 */
export async function findCarriedOver(
  sql: Sql,
  wishes: readonly WishRow[],
  all: Seen,
  abilities: Parameters<typeof mostReplicasOf>[1],
): Promise<ReadonlySet<string>> {
  const running = wishes.flatMap((wish) => {
    const seen = judge(wish, all.get(wish.id) ?? { state: 'absent' })
    const { id, release_id: release, is_task, busy, stop_reason } = wish
    if (seen.state !== 'running' || release === null || seen.release !== release) return []
    if (is_task || busy || stop_reason !== null) return []
    const endpoints = liveEndpoints(release, seen, mostReplicasOf(wish, abilities))
    return [{ wish: { id, release_id: release }, seen, endpoints }]
  })
  return new Set(running.length === 0 ? [] : await listCarriedOver(sql, running))
}
