import { taskKinds } from '@quayside/contract/services/kinds.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { OrganizationBytes, OrganizationFigures } from './organization-limit.ts'
import { type FormerPart, type KeptPart, layersPart, type Owner, type SharedBytes } from './organization-sums.ts'

/** Returns the organizations of services, backups in progress and the given executions. */
export const readOwners = (sql: Sql, executions: readonly string[]) => sql<Owner[]>`
  with one as (
    select s.id, p.organization_id from service s join environment e on e.id = s.environment_id join project p
    on p.id = e.project_id
  )
  select id::text, organization_id, true as is_service from one
  union all
  select b.id::text, one.organization_id, false from backup b join one on one.id = b.service_id
  where b.state in ('QUEUED', 'RUNNING')
  union all
  select b.proof_id::text, one.organization_id, false from backup b join one on one.id = b.service_id
  where b.proof_id is not null
  union all
  select r.execution_id, p.organization_id, false from deployment_request r
    join environment e on e.id = r.environment_id join project p on p.id = e.project_id
    where r.execution_id = any(${[...executions]}::text[])`

/** An organization with its backups and the previous measurement of an engine. */
export interface FormerOrganization {
  readonly id: string
  readonly backups: number
  readonly repositories: number
  /** The organization's bytes on other engines, as last measured. */
  readonly elsewhere: Omit<OrganizationBytes, 'backups'>
  readonly is_known: boolean
  readonly was_over: boolean
}

export const readFormer = (sql: Sql, engine: string) => sql<FormerOrganization[]>`
  select o.id, d.organization_id is not null as is_known, coalesce(d.is_over, false) as was_over,
    coalesce(d.repositories_bytes, 0) as repositories, coalesce((
    select sum(f.file_bytes) from project p join environment e on e.project_id = p.id join service s
    on s.environment_id = e.id
      join backup b on b.service_id = s.id join backup_file f on f.backup_id = b.id
    where p.organization_id = o.id
  ), 0)::bigint as backups,
  (select jsonb_build_object('images', coalesce(sum(x.images_bytes), 0),
      'repositories', coalesce(sum(x.repositories_bytes), 0), 'logs', coalesce(sum(x.logs_bytes), 0))
    from organization_disk x where x.organization_id = o.id and x.engine <> ${engine}) || (
    select jsonb_build_object('volumes', coalesce(sum(m.bytes) filter (where m.part <> ${layersPart}), 0),
      'layers', coalesce(sum(m.bytes) filter (where m.part = ${layersPart}), 0))
    from project p join environment e on e.project_id = p.id join cluster c on c.id = e.cluster_id
      join service s on s.environment_id = e.id join service_disk m on m.service_id = s.id
    where p.organization_id = o.id and c.engine is distinct from ${engine}) as elsewhere
  from organization o left join organization_disk d on d.organization_id = o.id and d.engine = ${engine}`

export const readFormerParts = (sql: Sql) => sql<FormerPart[]>`select service_id, part, kept_bytes from service_disk`

/** Returns services that can be stopped, with their running version. */
export const readStoppable = (sql: Sql) => sql<{ id: string; release_id: string }[]>`
  select id, release_id from service where release_id is not null and kind <> all(${[...taskKinds]})`

export interface MeasuredOrganization extends SharedBytes {
  readonly id: string
  readonly is_over: boolean
}

/** Replaces the previous measurement of the engine. Skips deleted services and organizations. */
export const writeMeasured = (
  database: Database,
  engine: string,
  measured: { readonly organizations: readonly MeasuredOrganization[]; readonly parts: readonly KeptPart[] },
  now: Date,
): Promise<void> =>
  inTransaction(database, async (sql) => {
    const rows = measured.organizations.map((one) => ({ ...one }))
    await sql`
      insert into organization_disk (organization_id, engine, measured_at, images_bytes, repositories_bytes,
      logs_bytes, scratch_bytes, is_over)
      select o.id, ${engine}, ${now}, r.images, r.repositories, r.logs, r.scratch, r.is_over
      from jsonb_to_recordset(${sql.json(rows)}) as r (
        id uuid, images bigint, repositories bigint, logs bigint, scratch bigint, is_over boolean
      ) join organization o on o.id = r.id for key share of o
      on conflict (organization_id, engine) do update
      set measured_at = excluded.measured_at, images_bytes = excluded.images_bytes,
        repositories_bytes = excluded.repositories_bytes, logs_bytes = excluded.logs_bytes, scratch_bytes =
        excluded.scratch_bytes,
        is_over = excluded.is_over`
    await sql`
      delete from service_disk where service_id in (select s.id from service s
        join environment e on e.id = s.environment_id join cluster c on c.id = e.cluster_id where c.engine = ${engine})`
    const parts = measured.parts.map(({ service_id, part, bytes, kept_bytes }) => ({
      service_id,
      part,
      bytes,
      kept_bytes,
    }))
    await sql`
      insert into service_disk (service_id, part, bytes, kept_bytes)
      select s.id, r.part, r.bytes, r.kept_bytes
      from jsonb_to_recordset(${sql.json(parts)}) as r (service_id uuid, part text, bytes bigint, kept_bytes bigint)
        join service s on s.id = r.service_id join environment e on e.id = s.environment_id
        join cluster c on c.id = e.cluster_id
      where c.engine = ${engine} for key share of s`
  })

/**
 * Returns what an organization takes. Volumes and layers are measured and belong to existing
 * services; backups are current; the rest is measured. The declared sizes are those of storages
 * whose cluster has an engine.
 */
export async function readFigures(sql: Sql, organizationId: string): Promise<OrganizationFigures> {
  const [row] = await sql<OrganizationFigures[]>`
    with one as (
      select s.id, s.settings, c.engine is not null as is_here from service s join environment e
      on e.id = s.environment_id
        join project p on p.id = e.project_id join cluster c on c.id = e.cluster_id
      where p.organization_id = ${organizationId}
    ), measured as (
      select d.service_id, d.part, d.bytes from service_disk d join one on one.id = d.service_id
    ), declared as (
      select one.id as service_id, v.id as part, v.size * 1073741824 as bytes from one cross join jsonb_to_recordset(
        case jsonb_typeof(settings -> 'storage') when 'array' then settings -> 'storage' else '[]' end
      ) as v (id text, size numeric) where is_here
      union all
      select id, id::text, (settings ->> 'storage')::numeric * 1073741824 from one
      where is_here and jsonb_typeof(settings -> 'storage') = 'number'
    ), volume as (
      select m.bytes as measured, greatest(m.bytes, d.bytes) as declared
      from (select * from measured where part <> ${layersPart}) m full join declared d using (service_id, part)
    ), volumes as (select coalesce(sum(measured), 0) as measured, coalesce(sum(declared), 0) as declared from volume
    ), shared as (
      select max(measured_at) as measured_at, coalesce(sum(scratch_bytes), 0) as scratch_bytes,
        coalesce(sum(images_bytes), 0) as images_bytes, coalesce(sum(repositories_bytes), 0) as repositories_bytes,
        coalesce(sum(logs_bytes), 0) as logs_bytes
      from organization_disk where organization_id = ${organizationId}
    )
    select o.measured_at,
      (volumes.measured + o.scratch_bytes)::bigint as volumes,
      (volumes.declared + o.scratch_bytes)::bigint as declared_volumes,
      (select coalesce(sum(bytes), 0) from measured where part = ${layersPart})::bigint as layers,
      o.images_bytes::bigint as images,
      (select coalesce(sum(f.file_bytes), 0) from one join backup b on b.service_id = one.id
        join backup_file f on f.backup_id = b.id)::bigint as backups,
      o.repositories_bytes::bigint as repositories, o.logs_bytes::bigint as logs,
      (select max((usage ->> 'disk_bytes')::bigint) from disk_usage) as disk_bytes
    from volumes cross join shared o`
  if (!row) throw new Error('the figures of an organization have no row')
  return row
}

/** Locks the check of the organization's declared sizes until the transaction ends. */
export async function lockClaims(sql: Sql, organizationId: string): Promise<void> {
  void (await sql`select pg_advisory_xact_lock(hashtextextended(${organizationId}, 44))`)
}
