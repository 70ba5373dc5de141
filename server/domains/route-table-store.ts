import type {
  BasicCredential,
  Route,
  RouteCanary,
  RouteEndpoint,
  RoutePort,
  RouteRules,
} from '@quayside/contract/routes.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import type { State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import { allClusters, type RouterScope } from '../routers/index.ts'
import { rulesOf } from './route-rules.ts'
import { type TlsRow, tlsMember } from './route-tls.ts'
import { uploadedHosts } from './secured-host-store.ts'
import { type MemberFacts, peopleLists, rolesAdmitted, type SignInIssuer, signInRule } from './sign-in-rule.ts'
import { readSignInMembers, signInMembers } from './sign-in-store.ts'

/** A route as the database has it. */
interface TableRow extends TlsRow {
  readonly host: string
  readonly path: string
  readonly rewrite: string | null
  readonly speaks_http2: boolean
  readonly public_port: number | null
  readonly public_protocol: RoutePort['protocol'] | null
  readonly internal_port: number
  readonly service_id: string
  readonly environment_id: string
  readonly release_id: string | null
  readonly name: string
  readonly state: State
  readonly endpoints: RouteEndpoint[]
  /** Labels of the pods of a chart's port. */
  readonly pods: Readonly<Record<string, string>> | null
  readonly asleep: boolean
  readonly canary: RouteCanary | null
  readonly kind: KindName
  readonly wishes: SettingValues
  readonly basic_auth: readonly BasicCredential[] | null
  readonly project_id: string
  readonly mode: string
  readonly organization_id: string
  /** Null for a service that everybody may use. */
  readonly sign_in: string | null
  /** Differs if the members of the organization do. The same for all its services. */
  readonly members: string | null
  readonly engine: string | null
}

/**
 * The new version `y` at the port of a route `r`, if its request still runs. A request that ended
 * in any way leaves no share behind.
 */
const canaryColumn = (sql: Sql) => sql`
    case when y.service_id is not null then (
      select jsonb_strip_nulls(jsonb_build_object('release', y.release_id, 'percent', y.percent,
        'slowMs', y.max_latency_ms, 'endpoints',
        jsonb_agg(jsonb_build_object('address', n.address, 'port', n.port) order by n.address)))
      from jsonb_to_recordset(y.endpoints) as n(address text, port integer)
      where n.port = r.internal_port
        and exists (select from deployment_request q where q.id = y.request_id and q.finished_at is null)
      having count(*) > 0) end as canary`

/**
 * A query of all routes with everything that their tables contain, and their engine. `offset 0` has
 * the digest of members computed once for an organization, not for each of its routes.
 */
const tableRows = (sql: Sql) => sql`
    select r.host, r.path, r.rewrite, r.speaks_http2, r.public_port, r.public_protocol, r.internal_port, r.service_id,
      r.release_id, r.endpoints, r.pods, s.environment_id, s.name, s.state, s.kind, s.advanced_settings as wishes,
      e.basic_auth,
      s.release_id is not null and coalesce(c.replicas = 0 or c.waking, false)
        and not exists (select from full_volume f where f.service_id = s.id and f.stopped_at is not null) as asleep,
      ${canaryColumn(sql)},
      k.engine, k.traffic_domain is not null as has_domain, k.has_own_tls, k.tls_secret, k.tls_issuer,
      k.tls_by_controller, d.generate_certificate, u.host is not null as has_upload, v.project_id, v.mode, s.sign_in,
      p.organization_id, m.mark as members
    from route r join service s on s.id = r.service_id
      join environment v on v.id = s.environment_id join cluster k on k.id = v.cluster_id
      join project p on p.id = v.project_id
      left join (select organization_id, md5(members::text) as mark from (${signInMembers(sql)}) known offset 0) m
        on m.organization_id = p.organization_id and s.sign_in is not null
      left join custom_domain d on d.id = r.custom_domain_id
      left join (${uploadedHosts(sql, 'everywhere')}) u on u.host = d.domain and r.public_port is null
        and u.place is not distinct from (case when k.traffic_domain is null then null else k.id end)
      left join service_scale c on c.service_id = s.id
      left join canary y on y.service_id = s.id and r.public_port is null
      left join release e on e.id = coalesce(r.release_id, s.release_id)`

/** A text for the routes of all clusters of one engine, which differs if their table does. */
interface RouteMark {
  /** Null for clusters that are only records. */
  readonly engine: string | null
  readonly mark: string
}

/** `endpoints` differs only if the hosts or their endpoints do. */
export interface EngineMarks extends RouteMark {
  readonly endpoints: string
}

/** Returns one text for several marks, which does not depend on their order. */
export const joinMarks = (marks: readonly RouteMark[]): string =>
  marks
    .map(({ engine, mark }) => `${engine} ${mark}`)
    .toSorted()
    .join()

/** Lists the marks of all engines whose clusters have routes. */
export const readRouteMarks = (sql: Sql) => sql<EngineMarks[]>`
  select engine, sum(hashtextextended(row::text, 0))::text as mark,
    sum(hashtextextended(concat_ws(' ', host, path, internal_port, service_id, release_id, endpoints, pods), 0))::text
      as endpoints
  from (${tableRows(sql)}) row group by engine`

/**
 * Returns a text for each of these services with hosts, which differs if they or their endpoints
 * do.
 */
export async function readServiceMarks(sql: Sql, services: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ service_id: string; mark: string }[]>`
    select service_id, 
      sum(hashtextextended(concat_ws(' ', host, path, internal_port, release_id, endpoints, pods), 0))::text as mark
    from route where service_id = any(${[...services]}::uuid[]) group by service_id`
  return new Map(rows.map(({ service_id, mark }) => [service_id, mark]))
}

/** A condition that PostgreSQL answers from the clusters of a router, unless it serves the rest. */
const isServed = (sql: Sql, { engines, isRest }: RouterScope) =>
  isRest ? sql`coalesce(k.engine <> all(${[...engines]}::text[]), true)` : sql`k.engine = any(${[...engines]}::text[])`

/** Facts about the platform that tables need. */
export interface TableFacts {
  /** Whether the platform's own router speaks TLS. False by default. */
  readonly speaksTls?: boolean
  /** Without it, nobody can enter services behind the sign-in. */
  readonly signIn?: SignInIssuer | undefined
}

/** A table of routes, with the lists to which they refer and its mark. */
export interface ReadTable {
  readonly mark: string
  readonly routes: Route[]
  readonly people: PeopleLists
}

/** Reads every route of the clusters of one router, and the mark of the table. */
export async function readTable(
  sql: Sql,
  { engines, isRest }: RouterScope = allClusters,
  { speaksTls = false, signIn }: TableFacts = {},
): Promise<ReadTable> {
  const rows = await sql<(TableRow & { readonly mark: string })[]>`
    select row.*, hashtextextended(row::text, 0)::text as mark from (
      ${tableRows(sql)} where ${isServed(sql, { engines, isRest })}
    ) row order by host, path`
  // Read after their marks: if they change in between, the next mark differs.
  const guarded = new Set(rows.flatMap(({ sign_in, organization_id }) => (sign_in === null ? [] : organization_id)))
  const members = guarded.size > 0 ? await readSignInMembers(sql, [...guarded]) : noMembers
  const byEngine = Map.groupBy(rows, ({ engine }) => engine)
  const marks = [...byEngine].map(([engine, own]) => ({
    engine,
    mark: String(own.reduce((sum, { mark }) => sum + BigInt(mark), 0n)),
  }))
  const routes = rows.map(
    ({
      speaks_http2,
      public_port,
      public_protocol,
      service_id,
      environment_id,
      release_id,
      name,
      state,
      endpoints,
      pods,
      asleep,
      canary,
      kind,
      wishes,
      basic_auth,
      has_domain,
      has_own_tls,
      tls_secret,
      tls_issuer,
      tls_by_controller,
      generate_certificate,
      has_upload,
      project_id: projectId,
      mode,
      organization_id,
      sign_in,
      members: _members,
      engine: _engine,
      mark: _mark,
      ...place
    }) => ({
      ...placeOf(place),
      ...(speaks_http2 && { speaksHttp2: true }),
      ...(public_port === null &&
        tlsMember(
          {
            ...{ has_domain, has_own_tls, tls_secret, tls_issuer, tls_by_controller },
            ...{ generate_certificate, has_upload, kind, wishes },
          },
          speaksTls,
        )),
      ...(public_port === null || public_protocol === null
        ? {}
        : { listen: { protocol: public_protocol, port: public_port } }),
      service: service_id,
      organization: organization_id,
      name,
      endpoints,
      ...((endpoints.length === 0 && !canary) || release_id === null
        ? {}
        : { replicas: { environment: environment_id, release: release_id, ...(pods && { pods }) } }),
      ...(endpoints.length === 0 ? { reason: asleep ? 'it is asleep' : whyNothing(state) } : {}),
      ...(endpoints.length === 0 && asleep ? { asleep } : {}),
      ...(canary && { canary }),
      ...rulesMember(rulesOf(kind, wishes, speaks_http2), {
        ...(basic_auth !== null && { basicAuth: basic_auth }),
        ...(sign_in !== null && {
          signIn: signInRule(
            organization_id,
            rolesAdmitted(sign_in, members.get(organization_id) ?? [], { projectId, mode }),
            signIn,
          ),
        }),
      }),
    }),
  )
  return { mark: joinMarks(marks), routes, people: peopleLists(members) }
}

const noMembers: ReadonlyMap<string, readonly MemberFacts[]> = new Map()

const placeOf = ({ host, path, rewrite }: { host: string; path: string; rewrite: string | null }) => ({
  host,
  ...(path === '/' ? {} : { path }),
  ...(rewrite === null ? {} : { rewrite }),
})

/** Current settings, and rules that follow from more than those. */
function rulesMember(rules: RouteRules | undefined, more: RouteRules): Pick<Route, 'rules'> {
  const all = { ...rules, ...more }
  return Object.keys(all).length === 0 ? {} : { rules: all }
}

export async function readRouteVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`select version from route_version`
  return row?.version ?? 0
}

function whyNothing(state: State): string {
  if (state === 'READY') return 'it was not deployed yet'
  if (state === 'STOPPED' || state === 'STOPPING') return 'it is stopped'
  if (state === 'DELETED' || state === 'DELETING') return 'it is uninstalled'
  return 'no version of it is running'
}
