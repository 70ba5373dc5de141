import type { Sql } from '../database/index.ts'

/**
 * The routers whose hosts are meant: the one of this machine, those of one cluster by its id, those
 * of all clusters, or all of them.
 */
export type SecuredPlace = 'machine' | { readonly cluster: string } | 'clusters' | 'everywhere'

/** The cluster whose own routers serve a service. Null: the router of this machine. */
const placeColumn = (sql: Sql) => sql`case when k.traffic_domain is null then null else k.id end`

/** A condition that PostgreSQL answers from the cluster of a service. */
function isAt(sql: Sql, place: SecuredPlace) {
  if (place === 'machine') return sql`k.traffic_domain is null`
  if (place === 'everywhere') return sql`(k.traffic_domain is null or k.has_own_tls)`
  const isSecured = sql`k.traffic_domain is not null and k.has_own_tls`
  return place === 'clusters' ? isSecured : sql`${isSecured} and k.id = ${place.cluster}`
}

/**
 * A query of the custom domains that the platform's own routers serve with an uploaded certificate:
 * the newest one, if services that share a domain have several. `place` is the id of a cluster, or
 * null for this machine.
 */
export const uploadedHosts = (sql: Sql, at: SecuredPlace) => sql`
  select distinct on (d.domain, ${placeColumn(sql)}) d.domain as host, ${placeColumn(sql)} as place,
    u.custom_domain_id, d.organization_id, u.chain, u.sealed_key, u.not_after, u.uploaded_at
  from uploaded_certificate u join custom_domain d on d.id = u.custom_domain_id
    join service s on s.id = d.service_id join environment v on v.id = s.environment_id
    join cluster k on k.id = v.cluster_id
  where ${isAt(sql, at)}
    and exists (select from route r where r.custom_domain_id = d.id and r.host = d.domain)
  order by d.domain, ${placeColumn(sql)}, u.uploaded_at desc, u.custom_domain_id`

/**
 * A query of the hosts that the platform's own routers serve with an ordered certificate: its
 * names, proven custom domains whose users want one and uploaded none, and `own`, the names of the
 * platform itself. The platform orders these certificates. Names of a cluster's domain have none if
 * the cluster says that something in front of its routers ends TLS. `saved_at` is when the user
 * last saved the domain, else null. `place` is as in `uploadedHosts`, and `organization` has the
 * host.
 */
export const securedHosts = (sql: Sql, own: readonly string[], at: SecuredPlace) => sql`
  select unnest(${[...own]}::text[]) as host, null::timestamptz as saved_at, null::uuid as place,
    null::uuid as organization
  union
  select r.host, max(d.updated_at) as saved_at, ${placeColumn(sql)} as place,
    min(k.organization_id::text)::uuid as organization
  from route r join service s on s.id = r.service_id
    join environment v on v.id = s.environment_id join cluster k on k.id = v.cluster_id
    left join custom_domain d on d.id = r.custom_domain_id
  where ${isAt(sql, at)} and r.public_port is null and coalesce(d.generate_certificate, true)
    and (k.traffic_domain is null or d.id is not null or not k.tls_by_controller)
    and not exists (select from uploaded_certificate u join custom_domain c on c.id = u.custom_domain_id
      where c.domain = r.host and c.proof is not null and r.custom_domain_id is not null)
  group by r.host, ${placeColumn(sql)}`

/** The engine of a cluster. Null: the router of this machine serves it. */
interface PlaceRow {
  readonly engine: string | null
}

/**
 * Lists the routers of the platform that serve a host or the domain of a cluster, by the engines of
 * their clusters.
 */
export const listRoutersOf = (
  sql: Sql,
  { host, cluster }: { readonly host: string; readonly cluster: string | undefined },
) =>
  sql<PlaceRow[]>`
    select distinct case when k.traffic_domain is null then null else k.engine end as engine
    from route r join service s on s.id = r.service_id join environment v on v.id = s.environment_id
      join cluster k on k.id = v.cluster_id
    where r.host = ${host} and ${isAt(sql, 'everywhere')}
    union select k.engine from cluster k where k.id = ${cluster ?? null} and ${isAt(sql, 'clusters')}`

/**
 * Records whether routers of the platform in the clusters of these engines speak TLS. Returns
 * whether there is such a cluster.
 */
export async function setOwnTls(sql: Sql, engines: readonly string[], hasOwnTls: boolean): Promise<boolean> {
  const names = [...engines]
  const [row] = await sql<{ is_known: boolean }[]>`
    with changed as (
      update cluster set has_own_tls = ${hasOwnTls}
      where engine = any(${names}::text[]) and has_own_tls <> ${hasOwnTls}
    )
    select exists (select from cluster where engine = any(${names}::text[])) as is_known`
  return row?.is_known ?? false
}
