import type { ServiceType } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'

export interface StageService {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly service_id: string
  readonly service_type: ServiceType
  readonly is_skipped: boolean
}

/** A stage with its services and its environment, project and organization. */
export interface StageRow {
  readonly id: string
  readonly organization_id: string
  readonly project_id: string
  readonly environment_id: string
  readonly environment_name: string
  readonly environment_mode: EnvironmentMode
  readonly copying: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly deployment_order: number
  readonly services: readonly StageService[]
}

const from = (sql: Sql) => sql`
  select g.*, p.organization_id, e.project_id, e.name as environment_name, e.mode as environment_mode, e.copying,
    coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'created_at', s.created_at, 'updated_at', s.updated_at,
        'service_id', s.id, 'service_type', upper(s.kind), 'is_skipped', s.is_skipped) order by s.created_at, s.id)
      from service s where s.stage_id = g.id), '[]') as services
  from deployment_stage g join environment e on e.id = g.environment_id join project p on p.id = e.project_id`

/** Selects the stage that a request is for. */
export const stageTarget = (sql: Sql, id: string) => sql`${from(sql)} where g.id = ${id}`

/** Lists the stages of an environment in deployment order. */
export const listStages = (sql: Sql, environmentId: string) =>
  sql<StageRow[]>`${from(sql)} where g.environment_id = ${environmentId} order by g.deployment_order`

export async function findStage(sql: Sql, id: string): Promise<StageRow | undefined> {
  const [row] = await sql<StageRow[]>`${from(sql)} where g.id = ${id}`
  return row
}

/**
 * Locks the environment against other changes of its stages and against new services. False when it
 * is gone.
 */
export async function lockStages(sql: Sql, environmentId: string): Promise<boolean> {
  const rows = await sql`select from environment where id = ${environmentId} for no key update`
  return rows.length === 1
}

/** Returns the ids of the stages in deployment order. */
export async function stageOrder(sql: Sql, environmentId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from deployment_stage where environment_id = ${environmentId} order by deployment_order`
  return rows.map(({ id }) => id)
}

/** Numbers the stages from 0 in this order. Writes only rows whose number changes. */
export async function setStageOrder(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update deployment_stage g set deployment_order = o.position - 1, updated_at = ${now}
    from unnest(${[...ids]}::uuid[]) with ordinality as o (id, position)
    where g.id = o.id and g.deployment_order <> o.position - 1`
}

export async function insertStage(
  sql: Sql,
  row: { id: string; environment_id: string; name: string; description: string; deployment_order: number; now: Date },
): Promise<void> {
  await takeRoom(sql, 'stages', row.environment_id)
  const { now, ...columns } = row
  await sql`insert into deployment_stage ${sql({ ...columns, created_at: now, updated_at: now })}`
}

export async function updateStage(
  sql: Sql,
  id: string,
  change: { name: string; description?: string },
  now: Date,
): Promise<void> {
  await sql`update deployment_stage set ${sql({ ...change, updated_at: now })} where id = ${id}`
}

/** Deletes an empty stage. False while it holds services. */
export async function deleteStage(sql: Sql, id: string): Promise<boolean> {
  const deleted = await sql`
    delete from deployment_stage where id = ${id} and not exists (select from service where stage_id = ${id})`
  return deleted.count === 1
}

/** Moves a service. False when it is not in the environment or the stage is gone. */
export async function setStageOfService(
  sql: Sql,
  place: { environmentId: string; stageId: string; serviceId: string; isSkipped: boolean },
  now: Date,
): Promise<boolean> {
  const { environmentId, stageId, serviceId, isSkipped } = place
  const moved = await sql`
    update service set stage_id = ${stageId}, is_skipped = ${isSkipped}, updated_at = ${now}, version = version + 1
    where id = ${serviceId} and environment_id = ${environmentId}
      and exists (select from deployment_stage where id = ${stageId})`
  return moved.count === 1
}
