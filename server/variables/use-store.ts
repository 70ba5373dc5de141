import type { Sql } from '../database/index.ts'
import type { UsedVariable } from './use-view.ts'

/** A variable with the names of its owner. */
export interface UseRow extends Omit<UsedVariable, 'named_keys'> {
  /** Empty if it has no reference. Null if the texts before it are too large. */
  readonly text: string | null
  readonly environment_name: string | null
  readonly environment_mode: string | null
  readonly service_name: string | null
  readonly service_kind: string | null
}

interface UsePlace {
  readonly projectId: string
  /** Null means every environment of the project. */
  readonly environmentId: string | null
}

/** The most bytes of texts with references that one list returns, in the order of their keys. */
const mostBytes = 2 * 1024 * 1024

/**
 * Lists the variables of a project, of its environments and of their services by key. Texts of
 * secrets are sealed and not returned.
 */
export const findUsed = (sql: Sql, { projectId, environmentId }: UsePlace) => sql<UseRow[]>`
  with place as (
    select id, name, mode from environment
    where project_id = ${projectId} and (${environmentId}::uuid is null or id = ${environmentId})
  ), found as (
    select v.*, null::uuid as at, null as service_name, null as service_kind
    from variable v where v.project_id = ${projectId}
    union all
    select v.*, p.id, null, null from place p join variable v on v.environment_id = p.id
    union all
    select v.*, p.id, s.name, s.kind
    from place p join service s on s.environment_id = p.id join variable v on v.service_id = s.id
  ), measured as (
    select f.*, sum(case when value like '%{{%' then octet_length(value) else 0 end) over (order by key, id) as bytes
    from found f
  )
  select f.id, f.key, f.variable_type, coalesce(f.base_id, f.base_built_in_id) as base_id, f.mount_path,
    f.enable_interpolation_in_file, f.at as environment_id, p.name as environment_name, p.mode as environment_mode,
    f.service_id, f.service_name, f.service_kind,
    case when f.value is null or f.value not like '%{{%' then '' when f.bytes <= ${mostBytes} then f.value end as text
  from measured f left join place p on p.id = f.at
  order by f.key, f.id`
