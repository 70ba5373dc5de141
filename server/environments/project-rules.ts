import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { type EnvironmentMode, nameTaken, type ProjectRow } from '../organizations/index.ts'
import {
  deleteProjectRule,
  findProjectRule,
  insertProjectRule,
  listProjectRules,
  lockRules,
  type ProjectRuleRow,
  setRuleOrder,
  updateProjectRule,
} from './rule-store.ts'
import { ruleRecord, type ScheduleRequest, scheduleOf, sentFlags } from './rules.ts'

export interface ProjectRuleRequest extends ScheduleRequest {
  readonly name: string
  readonly description?: string | null
  readonly mode: EnvironmentMode
  readonly cluster_id: string
  readonly wildcard: string
}

export interface ProjectRulesOptions {
  readonly database: Database
  readonly clock: Clock
  /** Returns the organization's cluster with that id. Undefined when it has none. */
  readonly findCluster: (sql: Sql, organizationId: string, id: string) => Promise<string | undefined>
}

type Project = Pick<ProjectRow, 'id' | 'organization_id'>

/** Manages the rules for new environments of a project. Existing environments are unaffected. */
export function createProjectRules({ database, clock, findCluster }: ProjectRulesOptions) {
  const find = async (sql: Sql, projectId: string, id: string): Promise<ProjectRuleRow> => {
    const row = await findProjectRule(sql, projectId, id)
    if (!row) throw notFound('deployment rule', id)
    return row
  }
  /** Checks and returns the required values; the optional flag and description are left out. */
  const valuesOf = async (sql: Sql, project: Project, body: ProjectRuleRequest) => {
    const cluster_id = await findCluster(sql, project.organization_id, body.cluster_id)
    if (!cluster_id) throw notFound('cluster', body.cluster_id, { field: 'cluster_id' })
    const { mode, wildcard } = body
    if (wildcard.trim() === '') throw new AppError('invalid', 'wildcard must not be empty. Use * for all names.')
    return { ...scheduleOf(body), cluster_id, name: checkName('name', body.name), mode, wildcard }
  }
  /** Does the work while other changes of the project's rules wait. */
  const locked = <T>(project: Project, work: (sql: Sql) => Promise<T>): Promise<T> =>
    inTransaction(database, async (sql) => {
      if (!(await lockRules(sql, project.id))) throw notFound('project', project.id)
      return work(sql)
    })
  const reorder = async (sql: Sql, project: Project, order: (ids: string[]) => string[]): Promise<void> => {
    const ids = (await listProjectRules(sql, project.id)).map(({ id }) => id)
    await setRuleOrder(sql, order(ids), clock.now())
  }

  return {
    list: async (project: Project) => (await listProjectRules(database, project.id)).map(ruleRecord),
    get: async (project: Project, id: string) => ruleRecord(await find(database, project.id, id)),

    /** Creates a rule after the last one. */
    create: (project: Project, body: ProjectRuleRequest) =>
      locked(project, async (sql) => {
        const optional = { auto_stop: body.auto_stop ?? false, description: body.description ?? '' }
        const values = { ...(await valuesOf(sql, project, body)), ...optional }
        const { length } = await listProjectRules(sql, project.id)
        const row = { id: newId(), project_id: project.id, priority_index: length }
        await insertProjectRule(sql, row, values, clock.now())
        return ruleRecord(await find(sql, project.id, row.id))
      }).catch(nameTaken('A deployment rule', body.name)),

    edit: (project: Project, id: string, body: ProjectRuleRequest) =>
      locked(project, async (sql) => {
        await find(sql, project.id, id)
        const description = body.description === undefined ? {} : { description: body.description ?? '' }
        const optional = { ...sentFlags({ auto_stop: body.auto_stop }), ...description }
        await updateProjectRule(sql, id, { ...(await valuesOf(sql, project, body)), ...optional }, clock.now())
        return ruleRecord(await find(sql, project.id, id))
      }).catch(nameTaken('A deployment rule', body.name)),

    remove: (project: Project, id: string): Promise<void> =>
      locked(project, async (sql) => {
        await find(sql, project.id, id)
        await deleteProjectRule(sql, id)
        await reorder(sql, project, (ids) => ids)
      }),

    /**
     * Moves the named rules to the front, in this order. 404 if a rule is not in the project, 400
     * if one is listed twice.
     */
    order: (project: Project, named: readonly string[]): Promise<void> =>
      locked(project, (sql) => reorder(sql, project, (ids) => ordered(ids, named))),
  }
}

/** Pure: returns the rules with the named ones first, in the order of the names. */
function ordered(rules: readonly string[], named: readonly string[]): string[] {
  const first = named.map((id) => id.toLowerCase())
  for (const [index, id] of first.entries()) {
    const field = `project_deployment_rule_ids_in_order[${index}]`
    if (!rules.includes(id))
      throw notFound('deployment rule', named[index], { field, advice: 'Name rules of this project.' })
    if (first.indexOf(id) !== index) throw new AppError('invalid', `${field} is listed twice.`)
  }
  return [...first, ...rules.filter((id) => !first.includes(id))]
}
