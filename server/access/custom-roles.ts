import { environmentModes } from '@quayside/contract/enums.ts'
import type { ClusterLevel, ProjectLevel } from '@quayside/contract/roles.ts'
import { builtInRoles } from '@quayside/contract/roles.ts'
import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import {
  countHolders,
  deleteCustomRole,
  type EnvironmentType,
  findCustomRole,
  findForeign,
  insertCustomRole,
  listCustomRoles,
  type ProjectGrant,
  replaceGrants,
  tellHolders,
  updateCustomRole,
} from './custom-role-store.ts'

export interface CustomRoleChange {
  readonly name: string
  readonly description?: string
  readonly cluster_permissions: readonly { readonly cluster_id: string; readonly permission: ClusterLevel }[]
  readonly project_permissions: readonly {
    readonly project_id: string
    readonly is_admin?: boolean
    readonly permissions?: readonly { readonly environment_type: EnvironmentType; readonly permission: ProjectLevel }[]
  }[]
}

/**
 * Roles that an organization defines. Changed rights on clusters and projects take effect with the
 * next request.
 */
export function createCustomRoles({ database, clock }: { database: Database; clock: Clock }) {
  const existing = async (sql: Sql, organizationId: string, id: string) => {
    const row = await findCustomRole(sql, organizationId, id)
    if (!row) throw notFound('custom role', id)
    return row
  }
  return {
    list: (organizationId: string) => listCustomRoles(database, organizationId),

    get: (organizationId: string, id: string) => existing(database, organizationId, id),

    /** A new role can read clusters and sees no project. */
    async create(organizationId: string, body: { readonly name: string; readonly description?: string }) {
      const name = checkRoleName(body.name)
      const row = { id: newId(), organization_id: organizationId, name, description: body.description ?? '' }
      return inTransaction(database, async (sql) => {
        await insertCustomRole(sql, row, clock.now())
        return existing(sql, organizationId, row.id)
      }).catch(taken(name))
    },

    /** Unlisted clusters get VIEWER and unlisted projects NO_ACCESS. */
    async edit(organizationId: string, id: string, body: CustomRoleChange) {
      const name = checkRoleName(body.name)
      const change = { name, ...(body.description === undefined ? {} : { description: body.description }) }
      checkOnce(body)
      return inTransaction(database, async (sql) => {
        if (!(await updateCustomRole(sql, organizationId, id, change, clock.now()))) throw notFound('custom role', id)
        await checkOwn(sql, organizationId, body)
        const clusters = body.cluster_permissions.map(({ cluster_id, permission }) => ({ cluster_id, permission }))
        await replaceGrants(sql, id, clusters, body.project_permissions.map(toGrant))
        await tellHolders(sql, id)
        return existing(sql, organizationId, id)
      }).catch(taken(name))
    },

    async remove(organizationId: string, id: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        const holders = await countHolders(sql, organizationId, id)
        if (!holders) throw notFound('custom role', id)
        const { members, tokens, invitations } = holders
        if (members + tokens + invitations > 0) {
          const who = `${members} members, ${tokens} API tokens and ${invitations} invitations`
          throw new AppError('conflict', `The role is assigned to ${who}. Assign another one to them first.`)
        }
        await deleteCustomRole(sql, id)
      })
    },
  }
}

/** Clients identify roles by name. */
function checkRoleName(given: string): string {
  const name = checkName('name', given)
  const builtIn = Object.values(builtInRoles).some((role) => role.name.toLowerCase() === name.toLowerCase())
  if (builtIn) throw new AppError('conflict', `A role with the name "${name}" already exists.`)
  return name
}

const taken =
  (name: string) =>
  (error: unknown): never => {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `A role with the name "${name}" already exists.`, { cause: error })
  }

function checkOnce({ cluster_permissions, project_permissions }: CustomRoleChange): void {
  const refuse = (field: string, values: readonly string[]): void => {
    const twice = values.findIndex((value, index) => values.indexOf(value) < index)
    if (twice >= 0) throw new AppError('invalid', `${field.replace('[]', `[${twice}]`)} is named twice.`)
  }
  const lower = (id: string): string => id.toLowerCase()
  refuse(
    'cluster_permissions[].cluster_id',
    cluster_permissions.map(({ cluster_id }) => lower(cluster_id)),
  )
  refuse(
    'project_permissions[].project_id',
    project_permissions.map(({ project_id }) => lower(project_id)),
  )
  for (const [index, { permissions = [] }] of project_permissions.entries()) {
    const modes = permissions.map(({ environment_type }) => environment_type)
    refuse(`project_permissions[${index}].permissions[].environment_type`, modes)
  }
}

async function checkOwn(sql: Sql, organizationId: string, body: CustomRoleChange): Promise<void> {
  const clusters = body.cluster_permissions.map(({ cluster_id }) => cluster_id.toLowerCase())
  const projects = body.project_permissions.map(({ project_id }) => project_id.toLowerCase())
  const foreign = await findForeign(sql, organizationId, { clusters, projects })
  const [cluster, project] = [foreign.clusters[0], foreign.projects[0]]
  if (cluster !== undefined) {
    const at = clusters.indexOf(cluster)
    throw notFound('cluster', body.cluster_permissions[at]?.cluster_id, {
      field: `cluster_permissions[${at}].cluster_id`,
    })
  }
  if (project !== undefined) {
    const at = projects.indexOf(project)
    throw notFound('project', body.project_permissions[at]?.project_id, {
      field: `project_permissions[${at}].project_id`,
    })
  }
}

function toGrant(given: CustomRoleChange['project_permissions'][number]): ProjectGrant {
  const levels = new Map(given.permissions?.map(({ environment_type, permission }) => [environment_type, permission]))
  const [development, preview, production, staging] = environmentModes.map((mode) => levels.get(mode) ?? 'NO_ACCESS')
  const none = 'NO_ACCESS' as const
  return {
    project_id: given.project_id,
    is_admin: given.is_admin ?? false,
    development: development ?? none,
    preview: preview ?? none,
    production: production ?? none,
    staging: staging ?? none,
  }
}
