import type { restrictionModes, restrictionTypes } from '@quayside/contract/resources/deployment-restriction.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

export interface RestrictionValues {
  readonly mode: (typeof restrictionModes)[number]
  readonly type: (typeof restrictionTypes)[number]
  readonly value: string
}
export interface RestrictionRow extends RestrictionValues {
  readonly id: string
  readonly service_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

export const listRestrictions = (sql: Sql, serviceId: string) =>
  sql<RestrictionRow[]>`
    select * from deployment_restriction where service_id = ${serviceId} order by created_at, id`

/** Lists the restrictions of all these services. */
export const listRestrictionsOf = (sql: Sql, serviceIds: readonly string[]) =>
  sql<RestrictionRow[]>`
    select * from deployment_restriction where service_id = any(${[...serviceIds]}::uuid[]) order by created_at, id`

export async function insertRestriction(
  sql: Sql,
  row: RestrictionValues & { readonly id: string; readonly service_id: string },
  now: Date,
): Promise<RestrictionRow | undefined> {
  await takeRoom(sql, 'restrictions', row.service_id)
  const { id, service_id, mode, type, value } = row
  const [made] = await sql<RestrictionRow[]>`
    insert into deployment_restriction ${sql({ id, service_id, mode, type, value, created_at: now, updated_at: now })}
    returning *`
  return made
}

/** Returns undefined if the service has no restriction of that id. */
export async function updateRestriction(
  sql: Sql,
  { serviceId, id }: { serviceId: string; id: string },
  { mode, type, value }: RestrictionValues,
  now: Date,
): Promise<RestrictionRow | undefined> {
  const [row] = await sql<RestrictionRow[]>`
    update deployment_restriction set mode = ${mode}, type = ${type}, value = ${value}, updated_at = ${now}
    where id = ${id} and service_id = ${serviceId} returning *`
  return row
}

export async function deleteRestriction(sql: Sql, serviceId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from deployment_restriction where id = ${id} and service_id = ${serviceId}`
  return deleted.count === 1
}
