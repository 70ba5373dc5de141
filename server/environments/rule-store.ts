import type { Weekday } from '@quayside/contract/resources/deployment-rule.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'

/** The values that both kinds of rules have. Times look like `08:00:00`. */
export interface RuleValues {
  readonly auto_stop: boolean
  readonly timezone: string
  readonly start_time: string
  readonly stop_time: string
  readonly weekdays: readonly Weekday[]
}

export interface EnvironmentRuleRow extends RuleValues {
  readonly id: string
  readonly environment_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly on_demand_preview: boolean
  readonly auto_preview: boolean
}

export interface ProjectRuleValues extends RuleValues {
  readonly cluster_id: string
  readonly name: string
  readonly description: string
  readonly mode: EnvironmentMode
  readonly wildcard: string
}

export interface ProjectRuleRow extends ProjectRuleValues {
  readonly id: string
  readonly project_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly priority_index: number
}

type Row = { readonly [column: string]: string | number | boolean | Date | readonly string[] }

/** Missing values get the column's default: UTC, 08:00 to 19:00, every day, no automatic stop. */
export async function insertEnvironmentRule(
  sql: Sql,
  row: { id: string; environment_id: string },
  values: Partial<RuleValues & Pick<EnvironmentRuleRow, 'on_demand_preview' | 'auto_preview'>>,
  now: Date,
): Promise<void> {
  const columns: Row = { ...row, ...values, created_at: now, updated_at: now }
  await sql`insert into environment_deployment_rule ${sql(columns)}`
}

export async function findEnvironmentRule(sql: Sql, environmentId: string): Promise<EnvironmentRuleRow | undefined> {
  const [row] = await sql<EnvironmentRuleRow[]>`
    select * from environment_deployment_rule where environment_id = ${environmentId}`
  return row
}

export async function updateEnvironmentRule(
  sql: Sql,
  rule: { id: string; environmentId: string },
  change: Partial<RuleValues & Pick<EnvironmentRuleRow, 'on_demand_preview' | 'auto_preview'>>,
  now: Date,
): Promise<EnvironmentRuleRow | undefined> {
  const columns: Row = { ...change, updated_at: now }
  const [row] = await sql<EnvironmentRuleRow[]>`
    update environment_deployment_rule set ${sql(columns)}, version = version + 1
    where id = ${rule.id} and environment_id = ${rule.environmentId} returning *`
  return row
}

export const listProjectRules = (sql: Sql, projectId: string) =>
  sql<ProjectRuleRow[]>`
    select * from project_deployment_rule where project_id = ${projectId} order by priority_index`

export async function findProjectRule(sql: Sql, projectId: string, id: string): Promise<ProjectRuleRow | undefined> {
  const [row] = await sql<ProjectRuleRow[]>`
    select * from project_deployment_rule where project_id = ${projectId} and id = ${id}`
  return row
}

/** Locks the rules of the project against other changes. False when the project is gone. */
export async function lockRules(sql: Sql, projectId: string): Promise<boolean> {
  const rows = await sql`select from project where id = ${projectId} for no key update`
  return rows.length === 1
}

export async function insertProjectRule(
  sql: Sql,
  row: { id: string; project_id: string; priority_index: number },
  values: ProjectRuleValues,
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'deploymentRules', row.project_id)
  const columns: Row = { ...row, ...values, created_at: now, updated_at: now }
  await sql`insert into project_deployment_rule ${sql(columns)}`
}

export async function updateProjectRule(
  sql: Sql,
  id: string,
  change: Partial<ProjectRuleValues>,
  now: Date,
): Promise<void> {
  const columns: Row = { ...change, updated_at: now }
  await sql`update project_deployment_rule set ${sql(columns)}, version = version + 1 where id = ${id}`
}

export async function deleteProjectRule(sql: Sql, id: string): Promise<void> {
  await sql`delete from project_deployment_rule where id = ${id}`
}

/** Numbers the rules from 0 in this order. Writes only rows whose number changes. */
export async function setRuleOrder(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update project_deployment_rule r set priority_index = o.position - 1, updated_at = ${now}
    from unnest(${[...ids]}::uuid[]) with ordinality as o (id, position)
    where r.id = o.id and r.priority_index <> o.position - 1`
}
