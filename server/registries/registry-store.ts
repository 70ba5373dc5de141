import type { ContainerRegistryKind, HelmRepositoryKind } from '@quayside/contract/registries.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

/** The two nouns of this room have tables of the same form. */
export type RegistryTable = 'container_registry' | 'helm_repository'
const limitOf = { container_registry: 'containerRegistries', helm_repository: 'helmRepositories' } as const
const referring = { container_registry: 'container_registry_id', helm_repository: 'helm_repository_id' } as const

export interface RegistryRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly kind: string
  readonly url: string
  readonly config: Readonly<Record<string, string | number>>
  /** The secrets of the configuration: a sealed JSON object of strings. */
  readonly sealed_config: string | null
  readonly associated_services_count: number
}

export interface ContainerRegistryRow extends RegistryRow {
  readonly kind: ContainerRegistryKind
}
export interface HelmRepositoryRow extends RegistryRow {
  readonly kind: HelmRepositoryKind
  readonly skip_tls_verification: boolean
}

export type RegistryValues = Pick<RegistryRow, 'name' | 'description' | 'kind' | 'url' | 'config' | 'sealed_config'> &
  Partial<Pick<HelmRepositoryRow, 'skip_tls_verification'>>

const from = (sql: Sql, table: RegistryTable) => sql`
  select r.*, (select count(*)::int from service s where s.${sql(referring[table])} = r.id) as associated_services_count
  from ${sql(table)} r`

export const listRegistries = <Row extends RegistryRow>(sql: Sql, table: RegistryTable, organizationId: string) =>
  sql<Row[]>`${from(sql, table)} where r.organization_id = ${organizationId} order by r.created_at, r.id`

export async function findRegistry<Row extends RegistryRow>(
  sql: Sql,
  table: RegistryTable,
  organizationId: string,
  id: string,
): Promise<Row | undefined> {
  const [row] = await sql<Row[]>`
    ${from(sql, table)} where r.id = ${id} and r.organization_id = ${organizationId}`
  return row
}

/** Prevents services from starting to use it for the rest of the transaction. */
export async function lockRegistry(sql: Sql, table: RegistryTable, organizationId: string, id: string): Promise<void> {
  await sql`select id from ${sql(table)} where id = ${id} and organization_id = ${organizationId} for no key update`
}

export async function insertRegistry(
  sql: Sql,
  table: RegistryTable,
  row: RegistryValues & { readonly id: string; readonly organization_id: string },
  now: Date,
): Promise<void> {
  await takeRoom(sql, limitOf[table], row.organization_id)
  await sql`insert into ${sql(table)}
    ${sql({ ...row, config: sql.json(row.config), created_at: now, updated_at: now })}`
}

/** Marks the services that use it as out of date. */
export async function updateRegistry(
  sql: Sql,
  table: RegistryTable,
  id: string,
  values: RegistryValues,
  now: Date,
): Promise<void> {
  const row = { ...values, config: sql.json(values.config), updated_at: now }
  await sql`update ${sql(table)} set ${sql(row)}, version = version + 1 where id = ${id}`
  await sql`update service set config_version = config_version + 1 where ${sql(referring[table])} = ${id}`
}

export async function deleteRegistry(sql: Sql, table: RegistryTable, id: string): Promise<void> {
  await sql`delete from ${sql(table)} where id = ${id}`
}

/** Inserts the initial registries of an organization. */
export async function addDefaultRegistries(sql: Sql, organizationId: string, now: Date): Promise<void> {
  await sql`
    insert into container_registry (id, organization_id, created_at, updated_at, name, kind, url)
    values (gen_random_uuid(), ${organizationId}, ${now}, ${now}, 'Docker Hub', 'DOCKER_HUB', 'https://docker.io')`
}
