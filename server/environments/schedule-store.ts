import type { Sql } from '../database/index.ts'
import type { EnvironmentRuleRow } from './rule-store.ts'
import type { LastTurn, Turn } from './turn.ts'

export interface DueSchedule {
  readonly environment_id: string
  readonly organization_id: string
}

/** The moments between which the next edge of a schedule is right and not yet due. */
export interface EdgeLimits {
  readonly now: Date
  readonly wrong: Date
}

const dueSchedules = (sql: Sql, at: EdgeLimits) => sql`
    from environment_deployment_rule r
    join environment e on e.id = r.environment_id join project p on p.id = e.project_id
    left join environment_schedule s on s.environment_id = r.environment_id
    where r.auto_stop and not e.deleting and (s.environment_id is null or s.rule_version <> r.version
      or s.next_edge <= ${at.now} or s.edge > ${at.wrong})`

/** An SQL expression: whether `listDueSchedules` finds an environment. */
export const isScheduleDue = (sql: Sql, at: EdgeLimits) => sql`exists (select ${dueSchedules(sql, at)})`

/**
 * Lists at most a hundred environments whose rule stops them by schedule and may be due,
 * round-robin across organizations. Edges after `wrong` come from a wrong clock and do not count.
 */
export const listDueSchedules = (sql: Sql, at: EdgeLimits): Promise<DueSchedule[]> =>
  sql<DueSchedule[]>`
    select r.environment_id, p.organization_id ${dueSchedules(sql, at)}
    order by row_number() over (partition by p.organization_id
    order by s.next_edge nulls first), s.next_edge nulls first
    limit 100`

export interface ScheduledRow extends EnvironmentRuleRow {
  readonly version: number
  readonly organization_id: string
  readonly project_id: string
  readonly environment_name: string
  /** Undefined until the rule has been followed once. */
  readonly last: (LastTurn & { readonly stopped: readonly string[] }) | undefined
}

/**
 * Locks the rule of an environment while it is followed. Undefined when the rule no longer stops
 * the environment.
 */
export async function lockSchedule(sql: Sql, environmentId: string): Promise<ScheduledRow | undefined> {
  const [rule] = await sql<Omit<ScheduledRow, 'last'>[]>`
    select r.*, e.project_id, p.organization_id, e.name as environment_name from environment_deployment_rule r
    join environment e on e.id = r.environment_id join project p on p.id = e.project_id
    where r.environment_id = ${environmentId} and r.auto_stop and not e.deleting for update of r`
  if (!rule) return undefined
  // A separate statement sees what the previous holder of the lock wrote.
  const [last] = await sql<(LastTurn & { stopped: string[] })[]>`
    select rule_version, edge, is_within, stopped from environment_schedule where environment_id = ${environmentId}`
  return { ...rule, last }
}

export async function writeTurn(
  sql: Sql,
  environmentId: string,
  turn: Turn,
  stopped: readonly string[],
): Promise<void> {
  const { rule_version, edge, is_within, next_edge } = turn
  const columns = { rule_version, edge, is_within, next_edge, stopped: [...stopped] }
  await sql`
    insert into environment_schedule ${sql({ environment_id: environmentId, ...columns })}
    on conflict (environment_id) do update set ${sql(columns)}`
}

/** Deletes the progress of an environment's rule. */
export async function deleteSchedule(sql: Sql, environmentId: string): Promise<void> {
  await sql`delete from environment_schedule where environment_id = ${environmentId}`
}
