import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { LayerLimit } from './full-layers.ts'
import type { RunLimit } from './full-runs.ts'
import type { StorageSize } from './full-volumes.ts'
import type { DiskUsage } from './sort-disk.ts'

/**
 * Records that the platform fetches an image, before the engine does. Images found under this
 * reference later belong to the platform. If the engine already has the image, this only updates
 * the time of last use of an image of the platform.
 */
export async function noteFetched(
  sql: Sql,
  engine: string,
  image: { readonly reference: string; readonly isThere: boolean },
  now: Date,
): Promise<void> {
  if (image.isThere)
    await sql`
      update fetched_image set used_at = ${now} where engine = ${engine} and reference = ${image.reference}`
  else {
    await sql`
      insert into fetched_image (engine, reference, fetched_at, used_at)
      values (${engine}, ${image.reference}, ${now}, ${now})
      on conflict (engine, reference) do update set used_at = excluded.used_at`
  }
}

/**
 * Records the owner of an image before an organization fetches it with its password. From then on
 * only its owners may use it. An image already on the engine without an owner stays open to all.
 */
export async function noteOwner(
  sql: Sql,
  { digest, isThere }: { readonly digest: string; readonly isThere: boolean },
  organizationId: string,
): Promise<void> {
  await sql`
    insert into image_owner (digest, organization_id)
      select ${digest}, ${organizationId}
      where not ${isThere}::boolean or exists (select from image_owner where digest = ${digest})
    on conflict do nothing`
}

/**
 * Whether an organization may use an image with these registry digests without asking a registry.
 */
export async function isOpenTo(
  sql: Sql,
  digests: readonly string[],
  organizationId: string | undefined,
): Promise<boolean> {
  const owners = await sql<{ organization_id: string }[]>`
    select organization_id from image_owner where digest = any(${[...digests]}::text[])`
  return owners.length === 0 || owners.some((owner) => owner.organization_id === organizationId)
}

/** Returns image references that the kept versions of a service may need again. */
export async function keptImages(sql: Sql, serviceId: string): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`
    select distinct image ->> 'reference' as reference from release where service_id = ${serviceId}
    and image is not null`
  return rows.map(({ reference }) => reference)
}

/** Returns the storage sizes of every running version. */
export const readStorageSizes = (sql: Sql): Promise<StorageSize[]> => sql<StorageSize[]>`
  select s.id as service_id, s.release_id, v.id as storage_id, v.mount_point, v.size::float8 as size_gib
  from service s join release l on l.id = s.release_id
    cross join jsonb_to_recordset(
      case jsonb_typeof(l.settings -> 'storage') when 'array' then l.settings -> 'storage' else '[]' end
    ) as v (id text, mount_point text, size numeric)
  union all
  select s.id, s.release_id, s.id::text, null, (l.settings ->> 'storage')::float8
  from service s join release l on l.id = s.release_id where jsonb_typeof(l.settings -> 'storage') = 'number'`

/**
 * Returns what a replica of each running service may write outside its volumes, by current
 * settings. Null if they do not say.
 */
export const readLayerLimits = (sql: Sql): Promise<LayerLimit[]> => sql<LayerLimit[]>`
  select id as service_id, release_id, layer_limit_gib as limit_gib
  from service where release_id is not null`

/**
 * Returns what each unfinished run of a job may write outside volumes, by the job's current
 * settings.
 */
export const readRunLimits = (sql: Sql): Promise<RunLimit[]> => sql<RunLimit[]>`
  select r.id as run_id, s.layer_limit_gib as limit_gib
  from job_run r join service s on s.id = r.service_id where r.status in ('QUEUED', 'RUNNING')`

/** Whether the service is being deployed. It may then have an image that no version has yet. */
export async function isBusy(sql: Sql, serviceId: string): Promise<boolean> {
  const found = await sql`select from deployment_target where service_id = ${serviceId} and finished_at is null limit 1`
  return found.length > 0
}

/**
 * Returns the images that kept versions need, all services with a flag for those being deployed,
 * and the images fetched to the engine, least recently used first.
 */
export async function readNeeds(sql: Sql, engine: string) {
  const kept = await sql<{ service_id: string; reference: string }[]>`
    select distinct service_id, image ->> 'reference' as reference from release where image is not null`
  const services = await sql<{ id: string; is_busy: boolean }[]>`
    select s.id, exists (
      select from deployment_target t where t.service_id = s.id and t.finished_at is null
    ) as is_busy from service s`
  const fetched = await sql<{ reference: string; used_at: Date }[]>`
    select reference, used_at from fetched_image where engine = ${engine} order by used_at`
  return {
    kept: Map.groupBy(kept, (row) => row.service_id),
    services: new Map(services.map(({ id, is_busy }) => [id, { isBusy: is_busy }])),
    fetched,
  }
}
export type Needs = Awaited<ReturnType<typeof readNeeds>>

export async function forgetFetched(sql: Sql, engine: string, reference: string): Promise<void> {
  await sql`delete from fetched_image where engine = ${engine} and reference = ${reference}`
}

export async function writeUsage(sql: Sql, engine: string, usage: DiskUsage, now: Date): Promise<void> {
  // The rows are valid JSON, but the library's JSON type does not accept interfaces.
  const json = sql.json(usage as unknown as Exclude<Json, undefined>)
  await sql`
    insert into disk_usage (engine, measured_at, usage) values (${engine}, ${now}, ${json})
    on conflict (engine) do update set measured_at = excluded.measured_at, usage = excluded.usage`
}

export async function readUsage(
  sql: Sql,
  engine: string,
): Promise<{ measured_at: Date; usage: DiskUsage } | undefined> {
  const [row] = await sql<{ measured_at: Date; usage: DiskUsage }[]>`
    select measured_at, usage from disk_usage where engine = ${engine}`
  return row
}

/** Returns the bytes of the largest disk of an engine. Null before the first measurement. */
export async function readLargestDisk(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ bytes: number | null }[]>`
    select max((usage ->> 'disk_bytes')::bigint) as bytes from disk_usage`
  return row?.bytes ?? null
}
