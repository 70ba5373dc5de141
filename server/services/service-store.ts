import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { ApplicationSettings } from './application-settings.ts'

export interface DeployedCommit {
  readonly id: string
  readonly created_at: string
  readonly message: string
  readonly author_name: string
  readonly branch: string
}

/** A service with what stands above it. */
export interface ServiceRow {
  readonly id: string
  readonly organization_id: string
  readonly project_id: string
  readonly project_name: string
  readonly environment_id: string
  readonly environment_name: string
  readonly environment_mode: string
  readonly cluster_id: string
  readonly stage_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly version: number
  readonly kind: KindName
  readonly name: string
  readonly description: string
  readonly is_skipped: boolean
  readonly settings: ApplicationSettings
  readonly git_token_id: string | null
  readonly git_token_name: string | null
  readonly state: State
  readonly config_version: number
  readonly deployed_config_version: number | null
  readonly release_id: string | null
  readonly last_deployment_date: Date | null
  readonly deployed_commit: DeployedCommit | null
}

const from = (sql: Sql) => sql`
  select s.*, e.name as environment_name, e.mode as environment_mode, e.cluster_id, e.project_id,
    p.organization_id, p.name as project_name, g.name as git_token_name
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    left join git_token g on g.id = s.git_token_id`

/** The service as the target of a request: of this kind, or of any. */
export const serviceTarget = (kind: KindName | undefined) => (sql: Sql, id: string) =>
  kind === undefined ? sql`${from(sql)} where s.id = ${id}` : sql`${from(sql)} where s.id = ${id} and s.kind = ${kind}`

export const listServices = (sql: Sql, environmentId: string, kind?: KindName) =>
  sql<ServiceRow[]>`${from(sql)} where s.environment_id = ${environmentId}
    and (${kind ?? null}::text is null or s.kind = ${kind ?? null}) order by s.created_at, s.id`

export async function findService(sql: Sql, id: string): Promise<ServiceRow | undefined> {
  const [row] = await sql<ServiceRow[]>`${from(sql)} where s.id = ${id}`
  return row
}

/** Locks the row against other changes for the rest of the transaction; false when it is gone. */
export async function lockService(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select id from service where id = ${id} for update`
  return rows.length === 1
}

/** Keeps the environment as it is for the rest of the transaction; false when it is gone or is to be deleted. */
export async function holdEnvironment(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from environment where id = ${id} and not deleting for share`
  return rows.length === 1
}

export async function insertService(
  sql: Sql,
  row: Pick<ServiceRow, 'id' | 'environment_id' | 'kind' | 'name' | 'description' | 'settings'>,
  stageName: string,
  now: Date,
): Promise<void> {
  await sql`
    insert into service (id, environment_id, stage_id, created_at, updated_at, kind, name, description, settings, git_token_id)
    select ${row.id}, ${row.environment_id}, coalesce(
        (select id from deployment_stage where environment_id = ${row.environment_id} and name = ${stageName}),
        (select id from deployment_stage where environment_id = ${row.environment_id}
          order by deployment_order desc limit 1)),
      ${now}, ${now}, ${row.kind}, ${row.name}, ${row.description}, ${asJson(sql, row.settings)},
      ${row.settings.git_repository.git_token_id}`
}

export async function updateService(
  sql: Sql,
  id: string,
  change: Pick<ServiceRow, 'name' | 'description' | 'settings'>,
  now: Date,
): Promise<void> {
  await sql`
    update service set name = ${change.name}, description = ${change.description},
      settings = ${asJson(sql, change.settings)}, git_token_id = ${change.settings.git_repository.git_token_id},
      updated_at = ${now}, version = version + 1, config_version = config_version + 1
    where id = ${id}`
}

export async function deleteServiceRow(sql: Sql, id: string): Promise<void> {
  await sql`delete from service where id = ${id}`
}

/** Settings hold nothing but JSON; the library's type of it does not know optional members. */
const asJson = (sql: Sql, settings: ApplicationSettings) => sql.json(settings as unknown as Exclude<Json, undefined>)
