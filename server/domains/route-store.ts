import type { HostCertificate, RouteEndpoint, RoutePort } from '@quayside/contract/routes.ts'
import type { Sql } from '../database/index.ts'
import type { HostAndPort } from '../routers/index.ts'
import type { PublicHost } from './host-names.ts'
import { listOwnRoutes, refuseTaken, sharedRoutes } from './shared-domain-store.ts'

export interface RouteRow extends PublicHost {
  readonly service_id: string
  readonly path: string
  readonly rewrite: string | null
  /** Null for one of the platform's own names. */
  readonly custom_domain_id: string | null
  readonly public_port: number | null
  /** Null for HTTP. */
  readonly public_protocol: RoutePort['protocol'] | null
  readonly release_id: string | null
  readonly endpoints: readonly RouteEndpoint[]
  /** Whether the ingress controller of a cluster carries it, at the usual port of HTTP. */
  readonly has_controller: boolean
  /**
   * Where a port is reached that a cluster opens. Null for a port of this machine, and while the
   * cluster has not said.
   */
  readonly outside: HostAndPort | null
  /** The certificate of the host as its router last reported it. Null: it has none. */
  readonly certificate: HostCertificate | null
}

/**
 * Returns the cluster on which a service is, by the name of its engine, the domain of its own, and
 * the issuer of certificates for custom domains.
 */
export async function findTrafficPlace(sql: Sql, serviceId: string): Promise<TrafficPlace> {
  const [row] = await sql<TrafficPlace[]>`
    select k.engine, k.traffic_domain as domain, k.tls_issuer as issuer,
      k.traffic_domain is not null and k.has_own_tls as has_own_tls
    from service s join environment v on v.id = s.environment_id
      join cluster k on k.id = v.cluster_id
    where s.id = ${serviceId}`
  return row ?? { engine: null, domain: null, issuer: null, has_own_tls: false }
}

export interface TrafficPlace {
  readonly engine: string | null
  readonly domain: string | null
  readonly issuer: string | null
  /** Whether routers of the platform in the cluster carry its traffic over TLS. */
  readonly has_own_tls: boolean
}

/**
 * Replaces the platform's own hosts of a service. A host whose port is unchanged keeps its
 * endpoints. The service's custom domains follow its hosts.
 */
export async function replaceHosts(
  sql: Sql,
  serviceId: string,
  hosts: readonly PublicHost[],
  now: Date,
): Promise<void> {
  await sql`
    delete from route where service_id = ${serviceId} and custom_domain_id is null
      and (host, path) not in (select * from unnest(${hosts.map(({ host }) => host)}::text[],
        ${hosts.map(({ path = '/' }) => path)}::text[]))`
  if (hosts.length > 0) {
    const rows = hosts.map((host) => ({
      path: '/',
      rewrite: null,
      speaks_http2: false,
      public_port: null,
      public_protocol: null,
      ...host,
      service_id: serviceId,
      updated_at: now,
    }))
    await sql`
      insert into route ${sql(rows)} on conflict (host, path) do update set port_name = excluded.port_name,
        is_default = excluded.is_default, updated_at = excluded.updated_at,
        public_port = excluded.public_port, public_protocol = excluded.public_protocol,
        endpoints = case when route.internal_port = excluded.internal_port then route.endpoints else '[]' end,
        pods = case when route.internal_port = excluded.internal_port then route.pods end,
        internal_port = excluded.internal_port, rewrite = excluded.rewrite,
        speaks_http2 = excluded.speaks_http2`
  }
  await replaceCustomHosts(sql, serviceId, now)
}

/**
 * Points the proven custom domains of a service to its default public port and to its ports with a
 * path, or nowhere if it has neither. Throws 409 if another service has the same path at the same
 * domain.
 */
export async function replaceCustomHosts(sql: Sql, serviceId: string, now: Date): Promise<void> {
  const shared = sharedRoutes(await listOwnRoutes(sql, [serviceId]))
  const [hosts, paths] = [shared.map(({ host }) => host), shared.map(({ path }) => path)]
  await refuseTaken(sql, serviceId, paths)
  await sql`
    delete from route r where service_id = ${serviceId} and custom_domain_id is not null
    and (path <> all(${paths}::text[])
      or not exists (select from custom_domain c
        where c.id = r.custom_domain_id and c.domain = r.host and c.proof is not null))`
  await sql`
    insert into route (host, path, rewrite, speaks_http2, service_id, port_name, internal_port, is_default, release_id,
      endpoints, pods, updated_at, custom_domain_id)
    select c.domain, own.path, own.rewrite, own.speaks_http2, c.service_id, own.port_name, own.internal_port,
      own.is_default, own.release_id, own.endpoints, own.pods, ${now}, c.id
    from custom_domain c join route own on own.service_id = c.service_id
      and (own.host, own.path) in (select * from unnest(${hosts}::text[], ${paths}::text[]))
    where c.service_id = ${serviceId} and c.proof is not null order by c.domain, own.path
    on conflict (host, path) do update set port_name = excluded.port_name, internal_port = excluded.internal_port,
      is_default = excluded.is_default, release_id = excluded.release_id, endpoints = excluded.endpoints,
      pods = excluded.pods, updated_at = excluded.updated_at, custom_domain_id = excluded.custom_domain_id,
      rewrite = excluded.rewrite, speaks_http2 = excluded.speaks_http2
      where route.service_id = excluded.service_id`
  await bumpVersion(sql)
}

/** The endpoints of one port, as reported by an engine. */
export interface PortEndpoint {
  readonly port: number
  readonly address: string
  /** The port of a chart that leads here, with the labels of its pods. */
  readonly of?: { readonly name: string; readonly port: number; readonly pods: Readonly<Record<string, string>> }
}

/**
 * Points every host of the service to these endpoints. Without endpoints it serves a page with the
 * reason. Returns true if something changed.
 */
export async function setEndpoints(
  sql: Sql,
  serviceId: string,
  releaseId: string | null,
  endpoints: readonly PortEndpoint[],
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    with changed as (
      update route r set release_id = ${releaseId}, updated_at = ${now}, endpoints = fresh.endpoints,
        pods = fresh.pods
      from ${freshRoutes(sql, serviceId, endpoints)} fresh
      where r.host = fresh.host and r.path = fresh.path and ${differs(sql, releaseId)}
      returning r.host
    )
    update route_version set version = version + 1 where exists (select from changed)`
  return count > 0
}

/** Whether `setEndpoints` with these endpoints would change nothing. */
export async function leadsTo(
  sql: Sql,
  serviceId: string,
  releaseId: string | null,
  endpoints: readonly PortEndpoint[],
): Promise<boolean> {
  const others = await sql`
    select from route r join ${freshRoutes(sql, serviceId, endpoints)} fresh
      on r.host = fresh.host and r.path = fresh.path
    where ${differs(sql, releaseId)} limit 1`
  return others.length === 0
}

/** Whether one of these endpoints, at a port with hosts, is missing from the service's hosts. */
export async function leadsElsewhere(
  sql: Sql,
  serviceId: string,
  endpoints: readonly PortEndpoint[],
): Promise<boolean> {
  const others = await sql`
    select from ${given(sql, endpoints)}
    where exists (select from route r where r.service_id = ${serviceId} and ${isOf(sql, 'r')})
      and not exists (select from route r where r.service_id = ${serviceId}
        and r.endpoints @> jsonb_build_array(jsonb_build_object('address', e.address)))
    limit 1`
  return others.length > 0
}

/** A table expression `e` with these endpoints. */
const given = (sql: Sql, endpoints: readonly PortEndpoint[]) => {
  const rows = endpoints.map(({ port, address, of }) => ({
    ...{ port, address, name: of?.name ?? null, at: of?.port ?? port, pods: of ? { ...of.pods } : null },
  }))
  return sql`jsonb_to_recordset(${sql.json(rows)}) as e(port integer, address text, name text, at integer, pods jsonb)`
}

/** A condition: the endpoint `e` is one of the port of a route. */
const isOf = (sql: Sql, route: string) =>
  sql`e.at = ${sql(route)}.internal_port and (e.name is null or e.name = ${sql(route)}.port_name)`

/** A condition: the route `r` is not as it should be. */
const differs = (sql: Sql, releaseId: string | null) => sql`(r.endpoints <> fresh.endpoints
  or r.pods is distinct from fresh.pods or r.release_id is distinct from ${releaseId})`

/** A table expression with the service's hosts and their desired endpoints. */
const freshRoutes = (sql: Sql, serviceId: string, endpoints: readonly PortEndpoint[]) => sql`
  (select i.host, i.path, coalesce(jsonb_agg(jsonb_build_object('address', e.address, 'port', e.port)
  order by e.address)
      filter (where e.address is not null), '[]') as endpoints, nullif((array_agg(e.pods))[1], 'null') as pods
    from route i left join ${given(sql, endpoints)} on ${isOf(sql, 'i')}
    where i.service_id = ${serviceId} group by i.host, i.path)`

/**
 * Records where ports of services are reached from outside. Ports of these services that are not
 * listed are reached nowhere. Returns true if something changed.
 */
export async function setOutsides(
  sql: Sql,
  ports: readonly { readonly service: string; readonly port: number; readonly outside: HostAndPort | null }[],
): Promise<boolean> {
  const rows = ports.map(({ outside, ...rest }) => ({ ...rest, outside: outside && { ...outside } }))
  const { count } = await sql`
    update route r set outside = nullif(given.outside, 'null')
    from jsonb_to_recordset(${sql.json(rows)}) as given(service uuid, port integer, outside jsonb)
    where r.service_id = given.service and r.public_port = given.port
      and r.outside is distinct from nullif(given.outside, 'null')`
  return count > 0
}

/** Records the certificates of hosts of services. Null: the host has none. */
export async function setCertificates(
  sql: Sql,
  hosts: readonly {
    readonly service: string
    readonly host: string
    readonly certificate: HostCertificate | null
  }[],
): Promise<void> {
  const rows = hosts.map(({ certificate, ...rest }) => ({ ...rest, certificate: certificate && { ...certificate } }))
  await sql`
    update route r set certificate = nullif(given.certificate, 'null')
    from jsonb_to_recordset(${sql.json(rows)}) as given(service uuid, host text, certificate jsonb)
    where r.service_id = given.service and r.host = given.host
      and r.certificate is distinct from nullif(given.certificate, 'null')`
}

export const listServiceRoutes = (sql: Sql, serviceId: string) =>
  sql<RouteRow[]>`
    select r.*, k.traffic_domain is not null as has_controller
    from route r join service s on s.id = r.service_id join environment v on v.id = s.environment_id
      join cluster k on k.id = v.cluster_id
    where r.service_id = ${serviceId}
    order by r.custom_domain_id is null desc, r.is_default desc, r.host, r.path`

export const listEnvironmentRoutes = (sql: Sql, environmentId: string) =>
  sql<(RouteRow & { readonly kind: string })[]>`
    select r.*, s.kind, k.traffic_domain is not null as has_controller
    from route r join service s on s.id = r.service_id join environment v on v.id = s.environment_id
      join cluster k on k.id = v.cluster_id
    where s.environment_id = ${environmentId}
    order by s.created_at, s.id, r.custom_domain_id is null desc, r.is_default desc, r.host,
      r.path`

/** Raises the version of the table when its content changes without a change of its rows. */
export const touchRoutes = async (sql: Sql): Promise<void> => void (await bumpVersion(sql))

const bumpVersion = (sql: Sql) => sql`update route_version set version = version + 1`
