import type { CopyStatus } from '@quayside/contract/resources/copy.ts'
import type { Sql } from '../database/index.ts'

export interface CopyRow {
  readonly id: string
  readonly project_id: string
  readonly mode: string
  readonly environment_id: string
  readonly service_id: string | null
  readonly source_id: string
  readonly name: string
  readonly with_data: boolean
  readonly status: CopyStatus
  readonly copied_bytes: number
  readonly reason: string | null
  readonly created_at: Date
  readonly finished_at: Date | null
}

interface Begun {
  readonly id: string
  readonly sourceId: string
  readonly now: Date
}

/** Records that a copy to this environment has begun. */
export async function insertEnvironmentCopy(
  sql: Sql,
  { id, sourceId, withData, now }: Begun & { readonly withData: boolean },
): Promise<void> {
  await sql`
    insert into copy_record (id, organization_id, project_id, mode, environment_id, source_id, name, with_data,
    created_at)
    select e.id, p.organization_id, p.id, e.mode, e.id, ${sourceId}, e.name, ${withData}, ${now}
    from environment e join project p on p.id = e.project_id where e.id = ${id}`
  await deleteFormerCopies(sql, id, now)
}

/** Records that a copy with data to this service has begun. */
export async function insertServiceCopy(sql: Sql, { id, sourceId, now }: Begun): Promise<void> {
  await sql`
    insert into copy_record (id, organization_id, project_id, mode, environment_id, service_id, source_id, name,
    with_data, created_at)
    select s.id, p.organization_id, p.id, e.mode, e.id, s.id, ${sourceId}, s.name, true, ${now}
    from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    where s.id = ${id}`
  await deleteFormerCopies(sql, id, now)
}

/** Deletes the organization's records that are older than thirty days. */
async function deleteFormerCopies(sql: Sql, id: string, now: Date): Promise<void> {
  const before = new Date(now.getTime() - 30 * 24 * 3600 * 1000)
  await sql`
    delete from copy_record where created_at < ${before}
      and organization_id = (select organization_id from copy_record where id = ${id})`
}

export async function setCopiedBytes(sql: Sql, id: string, bytes: number): Promise<void> {
  await sql`update copy_record set copied_bytes = ${bytes} where id = ${id} and copied_bytes <> ${bytes}`
}

/** Ends the record of a copy. A record that has ended is unchanged. */
export async function endCopyRecord(
  sql: Sql,
  id: string,
  { status, reason, now }: { readonly status: CopyStatus; readonly reason?: string; readonly now: Date },
): Promise<void> {
  await sql`
    update copy_record set status = ${status}, reason = ${reason ?? null}, finished_at = ${now}
    where id = ${id} and status = 'ONGOING'`
}

/** Replaces the reason of a failed copy. */
export async function setCopyReason(sql: Sql, id: string, reason: string): Promise<void> {
  await sql`update copy_record set reason = ${reason} where id = ${id} and status = 'ERROR' and reason is distinct
    from ${reason}`
}

/** Lists the latest copies of an organization, newest first, with the mode of today. */
export const listCopies = (sql: Sql, organizationId: string, limit: number) => sql<CopyRow[]>`
  select id, project_id,
    coalesce((select e.mode from environment e where e.id = copy_record.environment_id), mode) as mode,
    environment_id, service_id, source_id, name, with_data, status, copied_bytes, reason,
  created_at,
    finished_at
  from copy_record where organization_id = ${organizationId} order by created_at desc, id limit ${limit}`
