import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { CommitJson } from './target-store.ts'
import type { Versioned } from './versioned.ts'

/** An immutable copy of everything that one deployed version consists of. */
interface ReleaseBase {
  readonly id: string
  readonly service_id: string
  readonly request_id: string
  readonly created_at: Date
  readonly config_version: number
  readonly commit: (CommitJson & { readonly branch: string }) | null
  readonly image: { readonly reference: string; readonly digest: string } | null
  /** Those of the service. */
  readonly advanced_settings: SettingValues
  /** Of a public database that was started: its port of this machine. */
  readonly public_port: number | null
  /** Those of its labels groups. */
  readonly labels: Readonly<Record<string, string>>
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
      sealed_variables, advanced_settings, labels)
    values (${row.id}, ${row.service_id}, ${row.request_id}, ${row.created_at}, ${row.config_version},
      ${json(sql, row.settings)}, ${row.commit && json(sql, row.commit)}, ${row.image && json(sql, row.image)},
      ${json(sql, row.variables)}, ${row.sealed_variables}, ${json(sql, row.advanced_settings)},
      ${json(sql, row.labels)})
    on conflict (service_id, request_id) do nothing`
}

export async function setReleaseImage(sql: Sql, id: string, image: NonNullable<ReleaseRow['image']>): Promise<void> {
  await sql`update release set image = ${json(sql, image)} where id = ${id}`
}

export async function deleteRelease(sql: Sql, id: string): Promise<void> {
  await sql`delete from release where id = ${id}`
}

export async function setReleasePort(sql: Sql, id: string, port: number): Promise<void> {
  await sql`update release set public_port = ${port} where id = ${id}`
}

/** The newest version of a service that has an image. */
export async function findLastRelease(sql: Sql, serviceId: string): Promise<ReleaseRow | undefined> {
  const [row] = await sql<ReleaseRow[]>`
    select r.*, s.kind from release r join service s on s.id = r.service_id
    where r.service_id = ${serviceId} and r.image is not null
    order by r.id = s.release_id desc nulls last, r.created_at desc limit 1`
  return row
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
