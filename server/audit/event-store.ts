import type { Fragment, Sql } from '../database/index.ts'

/** One row of the audit log. */
export interface EventRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly event_type: string
  readonly target_type: string
  readonly target_id: string | null
  readonly target_name: string
  readonly sub_target_type: string | null
  readonly project_id: string | null
  readonly project_name: string
  readonly environment_id: string | null
  readonly environment_name: string
  readonly origin: string
  readonly triggered_by: string
  readonly caller: string
  readonly user_agent: string | null
  readonly change: string
  readonly original_change: string | null
  readonly request_id: string
}

/** Unknown names of project and environment are looked up. */
export type NewEvent = Omit<EventRow, 'project_name' | 'environment_name'> & {
  readonly project_name: string | null
  readonly environment_name: string | null
}

/**
 * Inserts the row once if `from` has a row, otherwise not at all. It is a part of a statement, so
 * the row and the statement's other changes are written together or not at all.
 */
export const insertion = (sql: Sql, row: NewEvent, from: Fragment): Fragment => sql`
  insert into audit_event (id, organization_id, created_at, event_type, target_type, target_id, target_name,
  sub_target_type,
    project_id, project_name, environment_id, environment_name, origin, triggered_by, caller, user_agent, change,
    original_change, request_id)
  select ${row.id}::uuid, ${row.organization_id}::uuid, ${row.created_at}::timestamptz, ${row.event_type}::text,
  ${row.target_type}::text,
    ${row.target_id}::uuid, ${row.target_name}::text, ${row.sub_target_type}::text, ${row.project_id}::uuid,
    ${nameOf(sql, sql`project`, row.project_name, row.project_id)},
    ${row.environment_id}::uuid,
    ${nameOf(sql, sql`environment`, row.environment_name, row.environment_id)},
    ${row.origin}::text, ${row.triggered_by}::text, ${row.caller}::text, ${row.user_agent}::text, ${row.change}::text,
    ${row.original_change}::text, ${row.request_id}::text
  from ${from}`

/** A known name needs no lookup in the statement. */
const nameOf = (sql: Sql, table: Fragment, known: string | null, id: string | null): Fragment =>
  known === null ? sql`coalesce((select name from ${table} where id = ${id}::uuid), '')` : sql`${known}::text`

export async function insertEvent(sql: Sql, row: NewEvent): Promise<void> {
  await sql`${insertion(sql, row, sql`(values (1)) as one`)}`
}

/**
 * Inserts one row for each service of an ended deployment with that result. A second call changes
 * nothing.
 */
export async function insertOutcomes(
  sql: Sql,
  requestId: string,
  outcomes: readonly { readonly status: string; readonly stack_action: string | null; readonly event: string }[],
  now: Date,
): Promise<void> {
  await sql`
    insert into audit_event (id, organization_id, created_at, event_type, target_type, target_id, target_name,
    project_id,
      project_name, environment_id, environment_name, origin, triggered_by, caller, change, request_id)
    select md5(r.id || ' ' || t.service_id)::uuid, p.organization_id, ${now}::timestamptz, o.event, upper(t.kind),
    t.service_id, t.name,
      p.id, p.name, e.id, e.name, r.origin, r.triggered_by, r.caller,
      jsonb_build_object('execution_id', r.execution_id, 'state', t.state, 'reason', t.reason)::text, r.id::text
    from deployment_request r
    join deployment_target t on t.request_id = r.id
    join jsonb_to_recordset(${sql.json(outcomes.map((outcome) => ({ ...outcome })))})
      as o(status text, stack_action text, event text)
      on o.status = t.status and o.stack_action is not distinct from t.stack_action
    join environment e on e.id = r.environment_id
    join project p on p.id = e.project_id
    where r.id = ${requestId}
    order by t.stage_order, t.service_seq
    on conflict (id) do nothing`
}

/** Filters of rows. Undefined ones match everything. */
export interface EventFilter {
  readonly from: Date | undefined
  readonly to: Date | undefined
  readonly event_type: string | undefined
  readonly target_type: string | undefined
  readonly target_id: string | undefined
  readonly sub_target_type: string | undefined
  readonly triggered_by: string | undefined
  readonly origin: string | undefined
  readonly project_id: string | undefined
  readonly environment_id: string | undefined
}

/** A position between rows, given by the row next to it. */
export interface Cursor {
  readonly created_at: Date
  readonly id: string
}

/**
 * Lists rows on one side of a cursor: older ones in descending order, newer ones in ascending
 * order.
 */
export const listEvents = (
  sql: Sql,
  organizationId: string,
  filter: EventFilter,
  page: { readonly newerThan?: Cursor | undefined; readonly olderThan?: Cursor | undefined; readonly limit: number },
) => {
  const { newerThan: newer, olderThan: older, limit } = page
  return sql<EventRow[]>`
    select * from audit_event
    where organization_id = ${organizationId} ${matching(sql, filter)}
      ${newer ? sql`and (created_at, id) > (${newer.created_at}, ${newer.id}::uuid)` : sql``}
      ${older ? sql`and (created_at, id) < (${older.created_at}, ${older.id}::uuid)` : sql``}
    order by created_at ${newer ? sql`asc` : sql`desc`}, id ${newer ? sql`asc` : sql`desc`} limit ${limit}`
}

const columns = [
  'event_type',
  'target_type',
  'target_id',
  'sub_target_type',
  'triggered_by',
  'origin',
  'project_id',
  'environment_id',
] as const

const matching = (sql: Sql, filter: EventFilter): Fragment => {
  const equal = columns.flatMap((column) => {
    const value = filter[column]
    return value === undefined ? [] : [sql`and ${sql(column)} = ${value}`]
  })
  const range = [
    ...(filter.from ? [sql`and created_at >= ${filter.from}`] : []),
    ...(filter.to ? [sql`and created_at <= ${filter.to}`] : []),
  ]
  return [...equal, ...range].reduce((all, part) => sql`${all} ${part}`, sql``)
}

/** Lists distinct targets by their newest name, sorted by name. */
export const listTargets = (
  sql: Sql,
  organizationId: string,
  filter: EventFilter,
  level: 'target' | 'project' | 'environment',
) => {
  const [id, name] = [sql(`${level}_id`), sql(`${level}_name`)]
  return sql<{ id: string; name: string }[]>`
    select id, name from (
      select distinct on (${id}) ${id} as id, ${name} as name from audit_event
      where organization_id = ${organizationId} and ${id} is not null ${matching(sql, filter)}
      order by ${id}, created_at desc
    ) t order by name, id limit 1000`
}
