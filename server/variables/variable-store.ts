import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { Near, Seer } from './impact.ts'
import type { Chain, Owner } from './scope.ts'

/** The listed and editable columns. Only `findDefinitions` reads the sealed text. */
export interface VariableRow {
  readonly id: string
  readonly project_id: string | null
  readonly environment_id: string | null
  readonly service_id: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly key: string
  readonly variable_type: 'VALUE' | 'FILE' | 'ALIAS' | 'OVERRIDE'
  readonly is_secret: boolean
  readonly value: string | null
  readonly mount_path: string | null
  readonly description: string
  readonly enable_interpolation_in_file: boolean
  readonly base_id: string | null
  readonly base_built_in_id: string | null
  readonly owned_by: string
}

/** The columns that an edit can change. Absent columns stay unchanged. */
export type VariableChanges = Partial<
  Pick<VariableRow, 'key' | 'variable_type' | 'value' | 'mount_path' | 'description' | 'enable_interpolation_in_file'>
> & { readonly sealed_value?: string }

/**
 * Lists all variables and secrets of the chain's owners, including shadowed ones, by key and from
 * wide to narrow.
 */
export async function findReachable(sql: Sql, { projectId, environmentId, serviceId }: Chain): Promise<VariableRow[]> {
  return sql<VariableRow[]>`
    select id, project_id, environment_id, service_id, created_at, updated_at, key, variable_type, is_secret, value,
      mount_path, description, enable_interpolation_in_file, base_id, base_built_in_id, owned_by
    from variable
    where project_id = ${projectId} or environment_id = ${environmentId} or service_id = ${serviceId}
    order by key, (service_id is not null), (environment_id is not null)`
}

/** Locks a row of the chain against changes and deletion until the transaction ends. */
export async function lockVariable(
  sql: Sql,
  { projectId, environmentId, serviceId }: Chain,
  id: string,
): Promise<void> {
  await sql`
    select from variable
    where id = ${id}
      and (project_id = ${projectId} or environment_id = ${environmentId} or service_id = ${serviceId})
    for update`
}

export async function isKeyTaken(sql: Sql, owner: Owner, key: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from variable where ${isOwnedBy(sql, owner)} and key = ${key}) as found`
  return row?.found === true
}

/** Finds the key of another file of the chain that is mounted at the path. */
export async function findFileAt(sql: Sql, chain: Chain, path: string, key: string): Promise<string | undefined> {
  const [row] = await sql<{ key: string }[]>`
    select key from variable
    where (project_id = ${chain.projectId} or environment_id = ${chain.environmentId}
    or service_id = ${chain.serviceId})
      and mount_path = ${path} and key <> ${key}
    limit 1`
  return row?.key
}

/**
 * Serializes changes of files in a project, because no index can require different paths within one
 * chain.
 */
export async function lockMountPaths(sql: Sql, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('mount paths of ' || ${projectId}, 0))`
}

const idOf = (owner: Owner): string =>
  'projectId' in owner ? owner.projectId : 'environmentId' in owner ? owner.environmentId : owner.serviceId

export async function insertVariable(
  sql: Sql,
  owner: Owner,
  row: Omit<VariableRow, 'project_id' | 'environment_id' | 'service_id' | 'updated_at'> & {
    readonly sealed_value: string | null
  },
): Promise<VariableRow> {
  const columns = {
    ...row,
    project_id: 'projectId' in owner ? owner.projectId : null,
    environment_id: 'environmentId' in owner ? owner.environmentId : null,
    service_id: 'serviceId' in owner ? owner.serviceId : null,
    updated_at: row.created_at,
  }
  await takeRoom(sql, 'variables', idOf(owner))
  await sql`insert into variable ${sql(columns)}`
  const { sealed_value: _, ...listed } = columns
  return listed
}

export async function updateVariable(sql: Sql, id: string, at: Date, changes: VariableChanges): Promise<void> {
  await sql`
    update variable set ${sql({ ...changes, updated_at: at })}, version = version + 1 where id = ${id}`
}

/**
 * Gives all direct and indirect overrides the new key, because an override has the key of its base.
 */
export async function renameOverrides(sql: Sql, id: string, at: Date, key: string): Promise<void> {
  await sql`
    with recursive standing (id) as (
      select id from variable where base_id = ${id} and variable_type = 'OVERRIDE'
      union
      select v.id from variable v join standing s on v.base_id = s.id and v.variable_type = 'OVERRIDE'
    )
    update variable set key = ${key}, updated_at = ${at}, version = version + 1
    where id in (select id from standing)`
}

/** Deletes a variable with its aliases and overrides. */
export async function deleteVariable(sql: Sql, id: string): Promise<void> {
  await sql`delete from variable where id = ${id}`
}

/**
 * Locks every service at or below the owner, in the order of ids, and returns them. Every change
 * begins with this. The foreign key of a new variable also locks its service, so two changes
 * without this order could deadlock.
 */
export async function lockServices(sql: Sql, owner: Owner): Promise<Seer[]> {
  return sql<Seer[]>`
    select id, environment_id from service where ${isBelow(sql, owner)} order by id for no key update`
}

/** Marks the services as out of date. */
export async function bumpConfigVersions(sql: Sql, serviceIds: readonly string[]): Promise<void> {
  if (serviceIds.length === 0) return
  await sql`update service set config_version = config_version + 1 where id = any(${[...serviceIds]}::uuid[])`
}

/**
 * Finds the direct and indirect dependents of these variables, and the variables at or below the
 * project with one of these keys.
 */
export async function findNear(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
  keys: readonly string[],
): Promise<Near[]> {
  return sql<Near[]>`
    with recursive standing (id) as (
      select v.id from variable v where v.base_id = any(${[...ids]}::uuid[])
      union
      select v.id from variable v join standing s on v.base_id = s.id
    ), below as (
      select id from environment where project_id = ${projectId}
    )
    select id, key, variable_type, base_id, environment_id, service_id from variable
    where id in (select id from standing)
    union
    select id, key, variable_type, base_id, environment_id, service_id from variable
    where environment_id in (select id from below) and key = any(${[...keys]}::text[])
    union
    select id, key, variable_type, base_id, environment_id, service_id from variable
    where service_id in (select s.id from service s join below b on b.id = s.environment_id)
      and key = any(${[...keys]}::text[])`
}

const isBelow = (sql: Sql, owner: Owner) => {
  if ('serviceId' in owner) return sql`id = ${owner.serviceId}`
  return 'environmentId' in owner
    ? sql`environment_id = ${owner.environmentId}`
    : sql`environment_id in (select id from environment where project_id = ${owner.projectId})`
}

const isOwnedBy = (sql: Sql, owner: Owner) => {
  if ('serviceId' in owner) return sql`service_id = ${owner.serviceId}`
  return 'environmentId' in owner ? sql`environment_id = ${owner.environmentId}` : sql`project_id = ${owner.projectId}`
}
