import type { Sql } from '../database/index.ts'
import type { BuiltInFacts, ServiceFacts } from './built-ins.ts'
import type { Chain } from './scope.ts'

/** A variable with its text, as one statement hands it over. */
export interface StoredDefinition {
  readonly id: string
  readonly scope: 'PROJECT' | 'ENVIRONMENT' | 'SERVICE'
  readonly key: string
  readonly type: 'VALUE' | 'FILE' | 'ALIAS' | 'OVERRIDE'
  readonly value?: string
  readonly sealed_value?: string
  readonly mount_path?: string
  readonly interpolates_file: boolean
  readonly base_id?: string
}

type FactsJson<T> = T extends Date ? string : T extends object ? { readonly [K in keyof T]: FactsJson<T[K]> } : T

/** What the built-ins of the chain tell of; undefined where the project, environment or service is gone. */
export async function findFacts(sql: Sql, chain: Chain): Promise<BuiltInFacts | undefined> {
  const [row] = await sql<{ facts: FactsJson<BuiltInFacts> }[]>`select ${factsOf(sql, chain)} as facts`
  return row && toFacts(row.facts, chain)
}

export interface Snapshot {
  readonly configVersion: number
  readonly facts: BuiltInFacts
  readonly definitions: readonly StoredDefinition[]
}

/** All that the variables of one service come from, read by one statement and so as of one moment. */
export async function findSnapshot(
  sql: Sql,
  chain: Chain & { readonly serviceId: string },
): Promise<Snapshot | undefined> {
  const [row] = await sql<
    { config_version: number; facts: FactsJson<BuiltInFacts>; definitions: StoredDefinition[] }[]
  >`
    select s.config_version, ${factsOf(sql, chain)} as facts, coalesce((
      select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'id', v.id, 'key', v.key, 'type', v.variable_type, 'value', v.value, 'sealed_value', v.sealed_value,
        'mount_path', v.mount_path, 'interpolates_file', v.enable_interpolation_in_file,
        'base_id', coalesce(v.base_id, v.base_built_in_id),
        'scope', case when v.service_id is not null then 'SERVICE' when v.environment_id is not null then 'ENVIRONMENT' else 'PROJECT' end
      )) order by v.id)
      from variable v
      where v.project_id = ${chain.projectId} or v.environment_id = ${chain.environmentId} or v.service_id = ${chain.serviceId}
    ), '[]') as definitions
    from service s where s.id = ${chain.serviceId} and s.environment_id = ${chain.environmentId}`
  const facts = row && toFacts(row.facts, chain)
  return facts && { configVersion: Number(row.config_version), facts, definitions: row.definitions }
}

const factsOf = (sql: Sql, { projectId, environmentId }: Chain) => sql`
  jsonb_strip_nulls(jsonb_build_object(
    'project', (
      select jsonb_build_object('id', id, 'name', name, 'created_at', created_at, 'updated_at', updated_at)
      from project where id = ${projectId}),
    'environment', (
      select jsonb_build_object('id', e.id, 'name', e.name, 'created_at', e.created_at, 'updated_at', e.updated_at,
        'mode', e.mode,
        'cluster', jsonb_build_object('name', c.name, 'cloud_provider', c.cloud_provider, 'region', c.region),
        'services', coalesce((
          select jsonb_agg(jsonb_build_object('id', o.id, 'name', o.name, 'created_at', o.created_at,
            'updated_at', o.updated_at, 'kind', o.kind, 'branch', o.settings #>> '{git_repository,branch}',
            'commit', o.deployed_commit ->> 'id',
            'externalHost', (select host from route where service_id = o.id order by is_default desc, host limit 1)
          ) order by o.created_at, o.id)
          from service o where o.environment_id = e.id), '[]'))
      from environment e join cluster c on c.id = e.cluster_id
      where e.id = ${environmentId} and e.project_id = ${projectId})))`

function toFacts(json: FactsJson<BuiltInFacts>, chain: Chain): BuiltInFacts | undefined {
  const { project, environment } = json
  if (!project) return undefined
  if (chain.environmentId === null) return { project: dated(project) }
  if (!environment) return undefined
  const services: ServiceFacts[] = environment.services.map((service) => dated(service))
  const facts = { project: dated(project), environment: { ...dated(environment), services } }
  if (chain.serviceId === null) return facts
  const service = services.find(({ id }) => id === chain.serviceId)
  return service && { ...facts, service }
}

const dated = <T extends { created_at: string; updated_at: string }>(json: T) => ({
  ...json,
  created_at: new Date(json.created_at),
  updated_at: new Date(json.updated_at),
})
