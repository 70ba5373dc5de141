import type { Sql } from '../database/index.ts'

/**
 * A query of the hosts that the platform's own router serves with a certificate: the platform's
 * names, proven custom domains whose users want one, and `own`, the names of the platform itself.
 * `saved_at` is when the user last saved the domain, else null.
 */
export const securedHosts = (sql: Sql, own: readonly string[]) => sql`
  select unnest(${[...own]}::text[]) as host, null::timestamptz as saved_at
  union
  select r.host, max(d.updated_at) as saved_at
  from route r join service s on s.id = r.service_id
    join environment v on v.id = s.environment_id join cluster k on k.id = v.cluster_id
    left join custom_domain d on d.id = r.custom_domain_id
  where k.traffic_domain is null and r.public_port is null and coalesce(d.generate_certificate, true)
  group by r.host`
