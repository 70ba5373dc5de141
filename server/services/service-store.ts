import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import { takeRoom } from '../limits/index.ts'
import type { RepositoryFact } from './settings/access.ts'
import type { Origin, Settings, SettingsOf } from './settings/branch.ts'

export interface DeployedCommit {
  readonly id: string
  readonly created_at: string
  readonly message: string
  readonly author_name: string
  readonly branch: string
  /** Absent from commits that earlier versions stored. */
  readonly tag?: string
}

/** A service of one kind, with the objects that contain it. */
export interface ServiceOf<K extends KindName> {
  readonly id: string
  readonly organization_id: string
  readonly project_id: string
  readonly project_name: string
  readonly environment_id: string
  readonly environment_name: string
  readonly environment_mode: string
  readonly cluster_id: string
  readonly cluster_name: string
  /**
   * The name of the engine that runs the workloads of the cluster; null if this installation runs
   * none of them.
   */
  readonly cluster_engine: string | null
  readonly stage_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly version: number
  readonly kind: K
  readonly name: string
  readonly description: string
  readonly is_skipped: boolean
  /**
   * The service whose data are being copied into this one. Meanwhile its settings do not change and
   * its deployments wait.
   */
  readonly copying: string | null
  /** The restore of a backup that is using the service. Nothing else acts on it meanwhile. */
  readonly restoring: string | null
  readonly settings: SettingsOf[K]
  readonly git_token_id: string | null
  readonly git_token_name: string | null
  /** The last contacts with the repositories of the settings; null if there are none. */
  readonly repository_access: readonly RepositoryFact[] | null
  /** The container registry or Helm repository that the settings name. */
  readonly origin: Origin | null
  /** The address of a public database outside its environment. */
  readonly public_address: { readonly host: string; readonly port: number } | null
  /** The version of a database that last used its data; null if there are no data. */
  readonly data_version: string | null
  /**
   * Whether the service has groups or an autoscaling policy. Most services have none, and these are
   * read without a query for them.
   */
  readonly has_parts: boolean
  /** Whether its autoscaling policy has an enabled scaler. */
  readonly scales_by_events: boolean
  /** Advanced settings as they were last sent. */
  readonly advanced_settings: SettingValues
  readonly state: State
  readonly config_version: number
  readonly deployed_config_version: number | null
  /** Since when a deployment of a stack would change something that nobody edited. */
  readonly drifted_at: Date | null
  readonly release_id: string | null
  readonly last_deployment_date: Date | null
  readonly deployed_commit: DeployedCommit | null
}
/** A service; its kind decides the type of its settings. */
export type ServiceRow = { readonly [K in KindName]: ServiceOf<K> }[KindName]

const from = (sql: Sql) => sql`
  select s.id, s.environment_id, s.stage_id, s.created_at, s.updated_at, s.version, s.kind, s.name, s.description,
    s.is_skipped, s.copying, s.restoring, s.settings, s.git_token_id, s.data_version, s.advanced_settings, s.state,
    s.config_version, s.deployed_config_version, s.drifted_at, s.release_id, s.last_deployment_date, s.deployed_commit,
    e.name as environment_name, e.mode as environment_mode, e.cluster_id, e.project_id,
    c.name as cluster_name, c.engine as cluster_engine,
    p.organization_id, p.name as project_name, g.name as git_token_name,
    case
      when r.id is not null then jsonb_build_object('id', r.id, 'name', r.name, 'url', r.url, 'kind', r.kind)
      when h.id is not null then jsonb_build_object('id', h.id, 'name', h.name, 'url', h.url, 'kind', h.kind)
    end as origin,
    case when s.kind in ('application', 'job', 'helm', 'terraform') then (
      select jsonb_agg(jsonb_build_object('url', u.url, 'git_token_id', a.git_token_id, 'has_access', a.has_access,
        'hosted', a.has_access is null and exists (select from hosted_repository k
          where k.organization_id = p.organization_id and k.name = substring(u.url from '/git/([^/]+)[.]git/*$'))))
      from unnest(s.repository_urls) u(url) left join repository_access a
        on a.organization_id = p.organization_id and a.address = repository_address(u.url)
          and (a.git_token_id is null
            or a.git_token_id = s.git_token_id and a.credential_version = g.credential_version)
    ) end as repository_access,
    case when s.accessibility = 'PUBLIC' then public_address(s.id) end as public_address,
    exists (select from service_tag_group t where t.service_id = s.id)
      or exists (select from autoscaling_policy a where a.service_id = s.id) as has_parts,
    exists (
      select from autoscaling_policy a where a.service_id = s.id and a.scalers @> '[{"enabled": true}]'
    ) as scales_by_events
  from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    join cluster c on c.id = e.cluster_id
    left join git_token g on g.id = s.git_token_id
    left join container_registry r on r.id = s.container_registry_id
    left join helm_repository h on h.id = s.helm_repository_id`

/** Returns the service that a request names: of this kind, or of any. */
export const serviceTarget = (kind: KindName | undefined) => (sql: Sql, id: string) =>
  kind === undefined ? sql`${from(sql)} where s.id = ${id}` : sql`${from(sql)} where s.id = ${id} and s.kind = ${kind}`

export const listServices = (sql: Sql, environmentId: string, kind?: KindName) =>
  sql<ServiceRow[]>`${from(sql)} where s.environment_id = ${environmentId}
    and (${kind ?? null}::text is null or s.kind = ${kind ?? null}) order by s.created_at, s.id`

export async function findService(sql: Sql, id: string): Promise<ServiceRow | undefined> {
  const [row] = await sql<ServiceRow[]>`${from(sql)} where s.id = ${id}`
  return row
}

/** Lists the organization's services with this image that deploy a new tag automatically. */
export const listImageServices = (
  sql: Sql,
  wanted: { readonly organizationId: string; readonly kind: KindName; readonly imageName: string },
) =>
  sql<ServiceRow[]>`${from(sql)} where p.organization_id = ${wanted.organizationId} and s.kind = ${wanted.kind}
    and s.image_name = ${wanted.imageName} and s.auto_deploy order by s.created_at, s.id`

/**
 * Lists the organization's services that a push to their repository deploys. Excludes environments
 * that are being copied or deleted.
 */
export const listAutoDeployed = (sql: Sql, organizationId: string) =>
  sql<ServiceRow[]>`${from(sql)} where p.organization_id = ${organizationId} and not e.deleting and e.copying is null
    and s.auto_deploy order by s.created_at, s.id`

/** Lists the organization's services whose settings contain a string. */
export const listNaming = (sql: Sql, organizationId: string, text: string) =>
  sql<ServiceRow[]>`${from(sql)} where p.organization_id = ${organizationId} and strpos(s.settings::text, ${text}) > 0`

/**
 * Locks the row against other changes for the rest of the transaction. Returns false if it is gone.
 */
export async function lockService(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select id from service where id = ${id} for no key update`
  return rows.length === 1
}

/**
 * Locks the environment against changes for the rest of the transaction. Returns false if it is
 * gone, being copied or being deleted.
 */
export async function holdEnvironment(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from environment where id = ${id} and not deleting and copying is null for share`
  return rows.length === 1
}

/**
 * Returns whether the organization has the object, and locks it for the rest of the transaction.
 */
export async function holdOrigin(
  sql: Sql,
  origin: {
    readonly table: 'container_registry' | 'helm_repository'
    readonly id: string
    readonly organizationId: string
  },
): Promise<boolean> {
  const rows = await sql`
    select from ${sql(origin.table)} where id = ${origin.id} and organization_id = ${origin.organizationId} for share`
  return rows.length === 1
}

/** The written columns of a service's settings. */
export interface Written {
  readonly name: string
  readonly description: string
  readonly settings: Settings
  readonly git_token_id: string | null
}

export async function insertService(
  sql: Sql,
  row: Written & Pick<ServiceRow, 'id' | 'environment_id' | 'kind'>,
  stageName: string,
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'services', row.environment_id)
  await sql`
    insert into service (id, environment_id, stage_id, created_at, updated_at, kind, name, description, settings,
    git_token_id)
    select ${row.id}, ${row.environment_id}, coalesce(
        (select id from deployment_stage where environment_id = ${row.environment_id}
        and lower(name) = lower(${stageName})),
        (select id from deployment_stage where environment_id = ${row.environment_id}
          order by deployment_order desc limit 1)),
      ${now}, ${now}, ${row.kind}, ${row.name}, ${row.description}, ${asJson(sql, row.settings)},
      ${row.git_token_id}`
}

export async function updateService(sql: Sql, id: string, change: Written, now: Date): Promise<void> {
  await sql`
    update service set name = ${change.name}, description = ${change.description},
      settings = ${asJson(sql, change.settings)}, git_token_id = ${change.git_token_id},
      updated_at = ${now}, version = version + 1, config_version = config_version + 1
    where id = ${id}`
}

/**
 * Stores advanced settings that were read as JSON. Used with a change of the settings, which raises
 * the version.
 */
export async function updateAdvancedSettings(sql: Sql, id: string, values: SettingValues): Promise<void> {
  await sql`update service set advanced_settings =
    ${sql.json(values as Readonly<Record<string, Exclude<Json, undefined>>>)} where id = ${id}`
}

/** Sets the image tag of a service. */
export async function updateTag(sql: Sql, { id, kind }: Pick<ServiceRow, 'id' | 'kind'>, tag: string, now: Date) {
  const path = kind === 'job' ? ['source', 'image', 'tag'] : ['tag']
  await sql`
    update service set settings = jsonb_set(settings, ${path}::text[], ${sql.json(tag)}), updated_at = ${now},
      version = version + 1, config_version = config_version + 1
    where id = ${id} and source_version is distinct from ${tag}`
}

/** Records the version of a database that now uses its data; null: the data are erased. */
export async function setDataVersion(sql: Sql, id: string, version: string | null): Promise<void> {
  await sql`update service set data_version = ${version} where id = ${id}`
}

/** Returns the name of a stage. */
export async function stageNameOf(sql: Sql, stageId: string): Promise<string> {
  const [row] = await sql<{ name: string }[]>`select name from deployment_stage where id = ${stageId}`
  return row?.name ?? ''
}

export async function deleteServiceRow(sql: Sql, id: string): Promise<void> {
  await sql`delete from service where id = ${id}`
}

/** Settings contain only JSON; the library's JSON type does not accept optional members. */
const asJson = (sql: Sql, settings: Settings) => sql.json(settings as unknown as Exclude<Json, undefined>)

/** Lists settings as JSON strings. */
export const listSettings = (sql: Sql, ids: readonly string[]) =>
  sql<{ id: string; settings: string }[]>`
    select id, settings::text as settings from service where id = any(${[...ids]}::uuid[])`

export async function writeSettings(sql: Sql, id: string, settings: string): Promise<void> {
  await sql`update service set settings = ${settings}::text::jsonb where id = ${id}`
}
