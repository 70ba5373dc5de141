import type { Fragment, Sql } from '../database/index.ts'

/**
 * A variable or secret with its owners. For a built-in one, those of the object that its id names.
 */
export interface VariableTarget {
  readonly id: string
  readonly organization_id: string
  readonly project_id: string
  readonly environment_id: string | null
  readonly environment_mode: string | null
  readonly service_id: string | null
  readonly service_kind: string | null
  readonly service_name: string | null
  /** Null for a built-in variable, which may not exist. */
  readonly is_secret: boolean | null
}

/** Finds the variable as the target of a request. */
export const variableTarget = (sql: Sql, id: string): Fragment => sql`
  select ${id}::uuid as id, p.organization_id, p.id as project_id, p.name as project_name,
    e.id as environment_id, e.name as environment_name, e.mode as environment_mode, s.id as service_id, s.kind as
    service_kind, s.name as service_name, o.is_secret
  from (
    select v.project_id, v.environment_id, v.service_id, v.is_secret from variable v where v.id = ${id}
    union all select id, null, null, null from project where ${mayOwn(sql, id)}
    union all select null, id, null, null from environment where ${mayOwn(sql, id)}
    union all select null, null, id, null from service where ${mayOwn(sql, id)}
  ) o
  left join service s on s.id = o.service_id
  left join environment e on e.id = coalesce(o.environment_id, s.environment_id)
  join project p on p.id = coalesce(o.project_id, e.project_id)`

/**
 * Whether the id of a built-in variable begins with the digits of the row's id: see `builtInId`.
 */
const mayOwn = (sql: Sql, id: string): Fragment => sql`
  substr(${id}::text, 15, 1) = '8'
  and id between (substr(${id}::text, 1, 14) || '0000-0000-000000000000')::uuid
    and (substr(${id}::text, 1, 14) || 'ffff-ffff-ffffffffffff')::uuid
  and substr(id::text, 16, 3) = substr(${id}::text, 16, 3)`
