import type { Sql } from '../database/index.ts'
import type { BuiltInFacts } from './built-ins.ts'
import type { Chain } from './scope.ts'
import { type StoredService, toServiceFacts } from './stored-service.ts'

/** A stored variable with its text. */
export interface StoredDefinition {
  readonly id: string
  /** Null means `SERVICE`. */
  readonly scope: 'PROJECT' | 'ENVIRONMENT' | null
  readonly key: string
  /** Null means `VALUE`. */
  readonly type: 'FILE' | 'ALIAS' | 'OVERRIDE' | null
  readonly value: string | null
  readonly sealed_value: string | null
  readonly mount_path: string | null
  /** Null means false. */
  readonly interpolates_file: boolean | null
  readonly base_id: string | null
}

type Environment = NonNullable<BuiltInFacts['environment']>
interface Dated {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly updated_at: string
}
interface FactsJson {
  readonly project?: Dated
  readonly environment?: Dated & Pick<Environment, 'mode' | 'cluster'> & { readonly services: readonly StoredService[] }
}

/**
 * Loads the facts for built-in variables, secrets by name only. Undefined if the project,
 * environment or service no longer exists.
 */
export async function findFacts(sql: Sql, chain: Chain): Promise<BuiltInFacts | undefined> {
  const [row] = await sql<{ facts: FactsJson }[]>`select ${factsOf(sql, chain)} as facts`
  return row && toFacts(row.facts, chain)?.facts
}

export interface Snapshot {
  readonly configVersion: number
  readonly facts: BuiltInFacts
  /** The variables of the environment as stored, with sealed texts. */
  readonly services: readonly StoredService[]
  readonly definitions: readonly StoredDefinition[]
}

/**
 * Loads everything that the variables of one service depend on, with one statement and so at one
 * moment. One row holds the facts, each other row a variable, in the order of their ids. Gathering
 * many variables into one document took PostgreSQL five times as long. Common values are null,
 * because reading a value of a row costs more than finding the row.
 */
export async function findSnapshot(
  sql: Sql,
  chain: Chain & { readonly serviceId: string },
): Promise<Snapshot | undefined> {
  const rows = await sql<(StoredDefinition & SnapshotHead)[]>`
    select jsonb_build_object('configVersion', s.config_version) || ${factsOf(sql, chain)} as facts, null::uuid as
    id, null as scope,
      null as key, null as type, null as value, null as sealed_value, null as mount_path, null::boolean as
      interpolates_file,
      null::uuid as base_id
    from service s where s.id = ${chain.serviceId} and s.environment_id = ${chain.environmentId}
    union all
    select null, v.id,
      case when v.service_id is not null then null when v.environment_id is not null then 'ENVIRONMENT'
      else 'PROJECT' end,
      v.key, nullif(v.variable_type, 'VALUE'), v.value, v.sealed_value, v.mount_path,
      nullif(v.enable_interpolation_in_file, false),
      coalesce(v.base_id, v.base_built_in_id)
    from variable v
    where v.project_id = ${chain.projectId} or v.environment_id = ${chain.environmentId}
    or v.service_id = ${chain.serviceId}`
  const head = rows.find(({ facts }) => facts)?.facts
  if (!head) return undefined
  const found = toFacts(head, chain)
  const definitions = rows.filter(({ facts }) => !facts).sort((a, b) => (a.id < b.id ? -1 : 1))
  return found && { configVersion: head.configVersion, ...found, definitions }
}

interface SnapshotHead {
  /** Null in the row of a variable. */
  readonly facts: (FactsJson & { readonly configVersion: number }) | null
}

const factsOf = (sql: Sql, { projectId, environmentId }: Chain) => sql`
  jsonb_strip_nulls(jsonb_build_object(
    'project', (
      select jsonb_build_object('id', id, 'name', name, 'created_at', created_at, 'updated_at', updated_at)
      from project where id = ${projectId}),
    'environment', (
      select jsonb_build_object('id', e.id, 'name', e.name, 'created_at', e.created_at, 'updated_at', e.updated_at,
        'mode', e.mode,
        'cluster', jsonb_build_object('name', c.name, 'cloud_provider', c.cloud_provider, 'region', c.region,
          'hasEngine', c.engine is not null, 'domain', (select value from setting where key = 'domain')),
        'services', coalesce((
          select jsonb_agg(${serviceOf(sql)} order by o.created_at, o.id)
          from service o where o.environment_id = e.id), '[]'))
      from environment e join cluster c on c.id = e.cluster_id
      where e.id = ${environmentId} and e.project_id = ${projectId})))`

/** Selects the row `o` of a service as a StoredService. */
const serviceOf = (sql: Sql) => sql`
  jsonb_build_object('id', o.id, 'name', o.name, 'created_at', o.created_at, 'updated_at', o.updated_at, 'kind', o.kind,
    'branch', o.source_branch, 'version', o.source_version,
    'commit', o.deployed_commit ->> 'id',
    'credentials', jsonb_build_object('type', o.database_type, 'sealed_password', (
      select sealed_value from service_secret where service_id = o.id and name = 'password')),
    'external', (
      select coalesce(r.outside, jsonb_build_object('host', split_part(r.host, ':', 1), 'port', r.public_port))
      from route r where r.service_id = o.id and (r.public_port is null or r.outside is not null or not (
        select k.traffic_domain is not null from environment v join cluster k on k.id = v.cluster_id
        where v.id = o.environment_id))
      order by r.public_port is not null, r.is_default desc, r.host limit 1),
    'publicAddress', case when o.accessibility = 'PUBLIC' then public_address(o.id) end,
    'outputs', (
      select jsonb_agg(jsonb_build_object('id', p.id, 'key', p.key, 'value', p.value, 'sealed_value',
      p.sealed_value) order by p.key)
      from service_output p where p.service_id = o.id))`

function toFacts(
  json: FactsJson,
  chain: Chain,
): { readonly facts: BuiltInFacts; readonly services: readonly StoredService[] } | undefined {
  const { project, environment } = json
  if (!project) return undefined
  if (chain.environmentId === null) return { facts: { project: dated(project) }, services: [] }
  if (!environment) return undefined
  const services = environment.services.map((service) => toServiceFacts(service, () => undefined))
  const facts = { project: dated(project), environment: { ...dated(environment), services } }
  if (chain.serviceId === null) return { facts, services: environment.services }
  const service = services.find(({ id }) => id === chain.serviceId)
  return service && { facts: { ...facts, service }, services: environment.services }
}

const dated = <T extends Dated>(json: T) => ({
  ...json,
  created_at: new Date(json.created_at),
  updated_at: new Date(json.updated_at),
})
