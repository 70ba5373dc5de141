import type { Sql } from '../database/index.ts'

/** The last known facts about a cluster. Facts of a cluster that is away stay. */
export interface Health {
  readonly state: 'REACHABLE' | 'UNREACHABLE' | 'REFUSED'
  readonly reason?: string
  readonly version?: string
  readonly nodeCount?: number
  readonly cpuMilli?: number
  readonly memoryMiB?: number
}

/** `since` is the moment of the last change of the state. */
export async function storeHealth(sql: Sql, clusterId: string, health: Health, now: Date): Promise<void> {
  const { state, reason = null, version = null, nodeCount = null, cpuMilli = null, memoryMiB = null } = health
  await sql`
    insert into cluster_health as h
      (cluster_id, state, since, reason, kubernetes_version, node_count, cpu_milli, memory_mib)
    select id, ${state}, ${now}, ${reason}, ${version}, ${nodeCount}::integer, ${cpuMilli}::bigint, ${memoryMiB}::bigint
      from cluster where id = ${clusterId}
    on conflict (cluster_id) do update set state = excluded.state, reason = excluded.reason,
      since = case when h.state = excluded.state then h.since else excluded.since end,
      kubernetes_version = coalesce(excluded.kubernetes_version, h.kubernetes_version),
      node_count = coalesce(excluded.node_count, h.node_count),
      cpu_milli = coalesce(excluded.cpu_milli, h.cpu_milli),
      memory_mib = coalesce(excluded.memory_mib, h.memory_mib)`
}
