import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
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
  /** The organization's cluster of that id; undefined when it has none. */
  readonly findCluster: (sql: Sql, organizationId: string, id: string) => Promise<string | undefined>
}

type Project = Pick<ProjectRow, 'id' | 'organization_id'>

const gone = () => new AppError('notFound', 'There is no such object.')

/**
 * What the new environments of a project get; environments that are there keep theirs, whatever
 * happens here.
 */
export function createProjectRules({ database, clock, findCluster }: ProjectRulesOptions) {
  const find = async (sql: Sql, projectId: string, id: string): Promise<ProjectRuleRow> => {
    const row = await findProjectRule(sql, projectId, id)
    if (!row) throw gone()
    return row
  }
  /** All but what may be left out: flag and description. */
  const valuesOf = async (sql: Sql, project: Project, body: ProjectRuleRequest) => {
    const cluster_id = await findCluster(sql, project.organization_id, body.cluster_id)
    if (!cluster_id) throw new AppError('notFound', 'cluster_id: this cluster does not exist.')
    const { mode, wildcard } = body
    if (wildcard.trim() === '') throw new AppError('invalid', 'wildcard must not be empty. Use * for all names.')
    return { ...scheduleOf(body), cluster_id, name: checkName('name', body.name), mode, wildcard }
  }
  /** Others who change rules of the project wait. */
  const locked = <T>(project: Project, work: (sql: Sql) => Promise<T>): Promise<T> =>
    inTransaction(database, async (sql) => {
      if (!(await lockRules(sql, project.id))) throw gone()
      return work(sql)
    })
  const reorder = async (sql: Sql, project: Project, order: (ids: string[]) => string[]): Promise<void> => {
    const ids = (await listProjectRules(sql, project.id)).map(({ id }) => id)
    await setRuleOrder(sql, order(ids), clock.now())
  }

  return {
    list: async (project: Project) => (await listProjectRules(database, project.id)).map(ruleRecord),
    get: async (project: Project, id: string) => ruleRecord(await find(database, project.id, id)),

    /** Behind the last one. */
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
     * Those that are named come first, in this order. 404 when one is not of the project, 400 when
     * one comes twice.
     */
    order: (project: Project, named: readonly string[]): Promise<void> =>
      locked(project, (sql) => reorder(sql, project, (ids) => ordered(ids, named))),
  }
}

/** Pure: the rules with those named first, in the order of the names. */
function ordered(rules: readonly string[], named: readonly string[]): string[] {
  const first = named.map((id) => id.toLowerCase())
  for (const [index, id] of first.entries()) {
    const field = `project_deployment_rule_ids_in_order[${index}]`
    if (!rules.includes(id)) throw new AppError('notFound', `${field}: there is no such rule in this project.`)
    if (first.indexOf(id) !== index) throw new AppError('invalid', `${field} stands in the list twice.`)
  }
  return [...first, ...rules.filter((id) => !first.includes(id))]
}
