import type { BasicCredential } from '@quayside/contract/routes.ts'
import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { Versioned } from './versioned.ts'

/** The image of a version. `identity`: of its build, where other services may take it. */
export type ReleaseImage = {
  /** The image at its builder. */
  readonly reference: string
  readonly digest: string
  readonly identity?: string
  /** The reference by which the engine pulls it, if it does not share images with the builder. */
  readonly published?: string
}

/** A commit as rows hold it. */
export interface CommitJson {
  readonly id: string
  readonly created_at: string
  readonly message: string
  readonly author_name: string
  /** Absent from commits of earlier versions. */
  readonly tag?: string
}

/** An immutable copy of everything that one deployed version consists of. */
interface ReleaseBase {
  readonly id: string
  readonly service_id: string
  readonly request_id: string
  readonly created_at: Date
  /** The release whose version it starts again. */
  readonly copy_of: string | null
  readonly config_version: number
  readonly commit: (CommitJson & { readonly branch: string }) | null
  readonly image: ReleaseImage | null
  /** Those of the service. */
  readonly advanced_settings: SettingValues
  /** Of a public database that was started: its port of this machine. */
  readonly public_port: number | null
  /** Those of its labels groups. */
  readonly labels: Readonly<Record<string, string>>
  /** Who is let in by the router, where it asks: what the variable of the advanced setting held. */
  readonly basic_auth: readonly BasicCredential[] | null
  readonly variables: PlainVariables
  readonly sealed_variables: string | null
}

/** With the kind of its service, which tells what the settings are. */
export type ReleaseRow = ReleaseBase & Versioned

/** Variables and files by name; of a release, those that are no secrets. */
export interface PlainVariables {
  readonly variables: Readonly<Record<string, string>>
  readonly files: readonly { readonly path: string; readonly content: string }[]
}

export async function findRelease(sql: Sql, id: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id where r.id = ${id}`
  return row
}

/** Writes the release once; a second try with the same service and request changes nothing. */
export async function insertRelease(sql: Sql, row: ReleaseRow): Promise<void> {
  await sql`
    insert into release (id, service_id, request_id, created_at, config_version, settings, commit, image, variables,
      sealed_variables, advanced_settings, labels, copy_of,
      basic_auth)
    values (${row.id}, ${row.service_id}, ${row.request_id}, ${row.created_at}, ${row.config_version},
      ${json(sql, row.settings)}, ${row.commit && json(sql, row.commit)}, ${row.image && json(sql, row.image)},
      ${json(sql, row.variables)}, ${row.sealed_variables}, ${json(sql, row.advanced_settings)},
      ${json(sql, row.labels)}, ${row.copy_of}, ${row.basic_auth && json(sql, row.basic_auth)})
    on conflict (service_id, request_id) do nothing`
}

export async function setReleaseImage(sql: Sql, id: string, image: ReleaseImage): Promise<void> {
  await sql`update release set image = ${json(sql, image)} where id = ${id}`
}

export async function deleteRelease(sql: Sql, id: string): Promise<void> {
  await sql`delete from release where id = ${id}`
}

export async function setReleasePort(sql: Sql, id: string, port: number): Promise<void> {
  await sql`update release set public_port = ${port} where id = ${id}`
}

/**
 * The version of a service that runs, or ran last; where none ever did, the newest one that could.
 */
export async function findLastRelease(sql: Sql, serviceId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.image is not null
    order by r.id = s.release_id desc nulls last, r.served_at desc nulls last, r.created_at desc limit 1`
  return row
}

/**
 * The version of a service that runs, or ran last; undefined where none ever did, and where its
 * image is given up.
 */
export async function findDeployedRelease(sql: Sql, serviceId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.image is not null and (r.id = s.release_id or r.served_at is not null)
    order by r.id = s.release_id desc nulls last, r.served_at desc nulls last limit 1`
  return row
}

/**
 * Releases of each service that may be needed again: what runs, also as a job, what a request is
 * about to start, the newest versions, and the newest ones that had the traffic; `count` of each.
 * Copies of a version count as one with it.
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
 * Gives up what nobody needs of older releases: images, variables and secrets. Their settings stay
 * for the history that tells of them.
 */
export async function giveUpReleases(sql: Sql, count: number): Promise<number> {
  const given = await sql`
    update release set is_kept = false, image = null, sealed_variables = null, basic_auth = null, labels = '{}',
      variables = '{"variables": {}, "files": []}'
    where is_kept and id not in (select id from (${keptReleases(sql, count)}) k where id is not null)`
  return given.count
}

/** Our own rows are JSON; the library's type of it does not know interfaces. */
const json = (sql: Sql, value: object) => sql.json(value as unknown as Exclude<Json, undefined>)

/** The release that a request made of a service. */
export async function findReleaseOf(sql: Sql, serviceId: string, requestId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.request_id = ${requestId}`
  return row
}
