import type { Sql } from '../database/index.ts'

/**
 * A query of the custom domains that the platform's own router serves with an uploaded certificate:
 * the newest one, if services that share a domain have several.
 */
export const uploadedHosts = (sql: Sql) => sql`
  select distinct on (d.domain) d.domain as host, u.custom_domain_id, d.organization_id, u.chain, u.sealed_key,
    u.not_after, u.uploaded_at
  from uploaded_certificate u join custom_domain d on d.id = u.custom_domain_id
    join service s on s.id = d.service_id join environment v on v.id = s.environment_id
    join cluster k on k.id = v.cluster_id
  where k.traffic_domain is null
    and exists (select from route r where r.custom_domain_id = d.id and r.host = d.domain)
  order by d.domain, u.uploaded_at desc, u.custom_domain_id`

/**
 * A query of the hosts that the platform's own router serves with an ordered certificate: its
 * names, proven custom domains whose users want one and uploaded none, and `own`, the names of the
 * platform itself. The platform orders these certificates. `saved_at` is when the user last saved
 * the domain, else null.
 */
export const securedHosts = (sql: Sql, own: readonly string[]) => sql`
  select unnest(${[...own]}::text[]) as host, null::timestamptz as saved_at
  union
  select r.host, max(d.updated_at) as saved_at
  from route r join service s on s.id = r.service_id
    join environment v on v.id = s.environment_id join cluster k on k.id = v.cluster_id
    left join custom_domain d on d.id = r.custom_domain_id
  where k.traffic_domain is null and r.public_port is null and coalesce(d.generate_certificate, true)
    and not exists (select from uploaded_certificate u join custom_domain c on c.id = u.custom_domain_id
      where c.domain = r.host and c.proof is not null and r.custom_domain_id is not null)
  group by r.host`
