import type { Sql } from '../database/index.ts'
import { moved } from './policy.ts'

/** So many names of a domain must have failed, and none may have a certificate. */
const fewestFailed = 3
const forgottenMs = 3600_000

/** A cluster whose domain does not lead to its routers. */
export interface LostDomain {
  readonly cluster: string
  readonly domain: string
}

/**
 * Lists clusters whose domain does not seem to lead to their routers. A user names this domain
 * without a proof, and each failed order counts for the account of the whole installation. With
 * `cluster`, asks about that one alone.
 */
export const listLostDomains = (sql: Sql, now: Date, cluster: string | null = null) =>
  sql<LostDomain[]>`
    select k.id as cluster, k.traffic_domain as domain
    from cluster k join environment e on e.cluster_id = k.id join service s on s.environment_id = e.id
      join route r on r.service_id = s.id and r.custom_domain_id is null
      join host_certificate h on h.host = r.host
    where k.traffic_domain is not null and k.has_own_tls and coalesce(k.id = ${cluster}::uuid, true)
    group by k.id
    having count(distinct h.host) filter (where h.failures > 0 and h.tried_at > ${moved(now, -forgottenMs)})
        >= ${fewestFailed}
      and count(*) filter (where h.not_after > ${now}) = 0`

/** Whether a host is a name of one of these domains, on its cluster. Pure. */
export const isLost = (
  { host, place }: { readonly host: string; readonly place: string | null },
  lost: readonly LostDomain[],
): boolean => lost.some(({ cluster, domain }) => cluster === place && host.endsWith(`.${domain}`))
