import type { Sql } from '../database/index.ts'
import type { EnvironmentRuleRow } from './rule-store.ts'
import type { LastTurn, Turn } from './turn.ts'

export interface DueSchedule {
  readonly environment_id: string
  readonly organization_id: string
}

/**
 * Environments whose rule stops them by the clock and may demand something now, at most a hundred,
 * by turns of the organizations; `wrong`: edges after it are none.
 */
export const listDueSchedules = (sql: Sql, at: { readonly now: Date; readonly wrong: Date }): Promise<DueSchedule[]> =>
  sql<DueSchedule[]>`
    select r.environment_id, p.organization_id from environment_deployment_rule r
    join environment e on e.id = r.environment_id join project p on p.id = e.project_id
    left join environment_schedule s on s.environment_id = r.environment_id
    where r.auto_stop and not e.deleting and (s.environment_id is null or s.rule_version <> r.version
      or s.next_edge <= ${at.now} or s.edge > ${at.wrong})
    order by row_number() over (partition by p.organization_id
    order by s.next_edge nulls first), s.next_edge nulls first
    limit 100`

export interface ScheduledRow extends EnvironmentRuleRow {
  readonly version: number
  readonly organization_id: string
  readonly project_id: string
  readonly environment_name: string
  /** Undefined where the rule was not followed yet. */
  readonly last: (LastTurn & { readonly stopped: readonly string[] }) | undefined
}

/**
 * Locks the rule of an environment against others who follow it; undefined where it stops nothing
 * any more.
 */
export async function lockSchedule(sql: Sql, environmentId: string): Promise<ScheduledRow | undefined> {
  const [rule] = await sql<Omit<ScheduledRow, 'last'>[]>`
    select r.*, e.project_id, p.organization_id, e.name as environment_name from environment_deployment_rule r
    join environment e on e.id = r.environment_id join project p on p.id = e.project_id
    where r.environment_id = ${environmentId} and r.auto_stop and not e.deleting for update of r`
  if (!rule) return undefined
  // A statement of its own: it sees what whoever held the lock before has written.
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

/** Forgets how far the rule of an environment was followed. */
export async function deleteSchedule(sql: Sql, environmentId: string): Promise<void> {
  await sql`delete from environment_schedule where environment_id = ${environmentId}`
}
