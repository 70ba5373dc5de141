import type { ScopedAnnotations } from '@quayside/contract/resources/tag-group.ts'
import type { BasicCredential } from '@quayside/contract/routes.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { EventPolicy } from '../services/index.ts'
import type { Versioned } from './versioned.ts'

/** The image of a version. `identity` is that of its build, if other services may reuse it. */
export type ReleaseImage = {
  /** The reference of the image at its builder. */
  readonly reference: string
  readonly digest: string
  readonly identity?: string
  /** The reference by which the engine pulls it, if it does not share images with the builder. */
  readonly published?: string
  /** Of a chart: the commit of the repository with its values. */
  readonly valuesCommit?: string
}

/** A commit as rows store it. */
export interface CommitJson {
  readonly id: string
  readonly created_at: string
  readonly message: string
  readonly author_name: string
  /** Absent from commits that earlier versions of the platform stored. */
  readonly tag?: string
}

/** An immutable copy of everything that one deployed version consists of. */
interface ReleaseBase {
  readonly id: string
  readonly service_id: string
  readonly request_id: string
  readonly created_at: Date
  /** The release whose version this one starts again. */
  readonly copy_of: string | null
  readonly config_version: number
  readonly commit: (CommitJson & { readonly branch: string }) | null
  readonly image: ReleaseImage | null
  /** The advanced settings of the service. */
  readonly advanced_settings: SettingValues
  /** The port of this machine, if the release is of a public database that was started. */
  readonly public_port: number | null
  /** The labels of the service's labels groups. */
  readonly labels: Readonly<Record<string, string>>
  /** The annotations of its annotations groups. */
  readonly annotations: ScopedAnnotations
  /** The autoscaling policy of the service. */
  readonly event_scaling: EventPolicy | null
  /** The router's logins, from the variable in the advanced setting; null if none are required. */
  readonly basic_auth: readonly BasicCredential[] | null
  readonly variables: PlainVariables
  readonly sealed_variables: string | null
}

/** A release with the kind of its service, which determines the type of its settings. */
export type ReleaseRow = ReleaseBase & Versioned

/** Variables and files by name. Those of a release exclude secrets. */
export interface PlainVariables {
  readonly variables: Readonly<Record<string, string>>
  readonly files: readonly { readonly path: string; readonly content: string }[]
}

export async function findRelease(sql: Sql, id: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id where r.id = ${id}`
  return row
}

/** Inserts a release once. A retry with the same service and request changes nothing. */
export async function insertRelease(sql: Sql, row: ReleaseRow): Promise<void> {
  await sql`
    insert into release (id, service_id, request_id, created_at, config_version, settings, commit, image, variables,
      sealed_variables, advanced_settings, labels, copy_of,
      basic_auth, event_scaling, annotations)
    values (${row.id}, ${row.service_id}, ${row.request_id}, ${row.created_at}, ${row.config_version},
      ${json(sql, row.settings)}, ${row.commit && json(sql, row.commit)}, ${row.image && json(sql, row.image)},
      ${json(sql, row.variables)}, ${row.sealed_variables}, ${json(sql, row.advanced_settings)},
      ${json(sql, row.labels)}, ${row.copy_of}, ${row.basic_auth && json(sql, row.basic_auth)},
      ${row.event_scaling && json(sql, row.event_scaling)}, ${json(sql, row.annotations)})
    on conflict (service_id, request_id) do nothing`
}

/**
 * Stores the image of a release. Where the same image was published stays known: a deployment that
 * continues stores what was built again, and publishes it once.
 */
export async function setReleaseImage(sql: Sql, id: string, image: ReleaseImage): Promise<void> {
  await sql`
    update release set image = case when image ->> 'reference' = ${image.reference} and image ? 'published'
        then jsonb_build_object('published', image -> 'published') else '{}' end || ${json(sql, image)}
    where id = ${id}`
}

export async function deleteRelease(sql: Sql, id: string): Promise<void> {
  await sql`delete from release where id = ${id}`
}

export async function setReleasePort(sql: Sql, id: string, port: number): Promise<void> {
  await sql`update release set public_port = ${port} where id = ${id}`
}

/**
 * Returns the version of a service that runs or ran last. If none ever ran, the newest one with an
 * image.
 */
export async function findLastRelease(sql: Sql, serviceId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.image is not null
    order by r.id = s.release_id desc nulls last, r.served_at desc nulls last, r.created_at desc limit 1`
  return row
}

/**
 * Returns the version of a service that runs or ran last. Undefined if none ever ran, or if its
 * image was removed.
 */
export async function findDeployedRelease(sql: Sql, serviceId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.image is not null and (r.id = s.release_id or r.served_at is not null)
    order by r.id = s.release_id desc nulls last, r.served_at desc nulls last limit 1`
  return row
}

/**
 * Returns a query for the releases that may be needed again: the running one, those of active job
 * runs, those that a request is about to start, and `count` of the newest versions and of the
 * newest that had the traffic. Copies count as one version.
 */
const keptReleases = (sql: Sql, count: number) => sql`
  select id from (
    select v.id, dense_rank() over (partition by v.service_id order by v.newest desc, v.version) as place,
      case when v.served is not null then
        dense_rank() over (partition by v.service_id, v.served is not null
        order by v.served desc, v.version) end as served_place
    from (
      select r.id, r.service_id, coalesce(r.copy_of, r.id) as version,
        max(r.created_at) over (partition by r.service_id, coalesce(r.copy_of, r.id)) as newest,
        max(r.served_at) over (partition by r.service_id, coalesce(r.copy_of, r.id)) as served
      from release r where r.is_kept) v
  ) p where place <= ${count} or served_place <= ${count}
  union all select release_id from service where release_id is not null
  union all select release_id from job_run where status in ('QUEUED', 'RUNNING')
  union all select unnest(array[t.release_id, t.wanted_release]) from deployment_target t
    join deployment_request q on q.id = t.request_id and q.status in ('QUEUED', 'ONGOING', 'CANCELING')`

/**
 * Removes images, variables and secrets of releases that are no longer needed. Their settings are
 * kept for the history.
 */
export async function giveUpReleases(sql: Sql, count: number): Promise<number> {
  const given = await sql`
    update release set is_kept = false, image = null, sealed_variables = null, basic_auth = null, labels = '{}',
      annotations = '{}', variables = '{"variables": {}, "files": []}', event_scaling = null
    where is_kept and id not in (select id from (${keptReleases(sql, count)}) k where id is not null)`
  return given.count
}

/** Passes a row as JSON. The library's JSON type does not accept interfaces. */
const json = (sql: Sql, value: object) => sql.json(value as unknown as Exclude<Json, undefined>)

/** Returns the release that a request created for a service. */
export async function findReleaseOf(sql: Sql, serviceId: string, requestId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.request_id = ${requestId}`
  return row
}
