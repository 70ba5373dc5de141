import type { ClusterLevel, ProjectLevel } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import { takeRoom } from '../limits/index.ts'

export interface CustomRoleRow {
  readonly id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  /** One entry for every cluster of the organization. */
  readonly cluster_permissions: { cluster_id: string; cluster_name: string; permission: ClusterLevel }[]
  /** One entry for every project of the organization, with all modes. */
  readonly project_permissions: {
    project_id: string
    project_name: string
    is_admin: boolean
    permissions: { environment_type: EnvironmentType; permission: ProjectLevel }[]
  }[]
}
export type EnvironmentType = 'DEVELOPMENT' | 'PREVIEW' | 'STAGING' | 'PRODUCTION'

const record = (sql: Sql) => sql`
  select r.id, r.created_at, r.updated_at, r.name, r.description,
    (select coalesce(jsonb_agg(jsonb_build_object('cluster_id', c.id, 'cluster_name', c.name,
        'permission', coalesce(g.permission, 'VIEWER')) order by c.created_at, c.id), '[]')
      from cluster c left join custom_role_cluster g on g.cluster_id = c.id and g.role_id = r.id
      where c.organization_id = r.organization_id) as cluster_permissions,
    (select coalesce(jsonb_agg(jsonb_build_object('project_id', p.id, 'project_name', p.name,
        'is_admin', coalesce(g.is_admin, false), 'permissions', jsonb_build_array(
          jsonb_build_object('environment_type', 'DEVELOPMENT', 'permission', coalesce(g.development, 'NO_ACCESS')),
          jsonb_build_object('environment_type', 'PREVIEW', 'permission', coalesce(g.preview, 'NO_ACCESS')),
          jsonb_build_object('environment_type', 'STAGING', 'permission', coalesce(g.staging, 'NO_ACCESS')),
          jsonb_build_object('environment_type', 'PRODUCTION', 'permission', coalesce(g.production, 'NO_ACCESS'))))
        order by p.created_at, p.id), '[]')
      from project p left join custom_role_project g on g.project_id = p.id and g.role_id = r.id
      where p.organization_id = r.organization_id) as project_permissions
  from custom_role r`

export const listCustomRoles = (sql: Sql, organizationId: string) =>
  sql<CustomRoleRow[]>`${record(sql)} where r.organization_id = ${organizationId} order by r.created_at, r.id`

export async function findCustomRole(sql: Sql, organizationId: string, id: string): Promise<CustomRoleRow | undefined> {
  const [row] = await sql<CustomRoleRow[]>`
    ${record(sql)} where r.organization_id = ${organizationId} and r.id = ${id}`
  return row
}

export const listRoleNames = (sql: Sql, organizationId: string) =>
  sql<{ id: string; name: string }[]>`
    select id, name from custom_role where organization_id = ${organizationId} order by created_at, id`

export async function findRoleName(sql: Sql, organizationId: string, id: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select name from custom_role where organization_id = ${organizationId} and id = ${id}`
  return row?.name
}

interface Named {
  readonly name: string
  readonly description: string
}

export async function insertCustomRole(
  sql: Sql,
  row: Named & { readonly id: string; readonly organization_id: string },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'customRoles', row.organization_id)
  await sql`insert into custom_role ${sql({ ...row, created_at: now, updated_at: now })}`
}

/** Returns false if the role does not exist. The row is locked until the end of the transaction. */
export async function updateCustomRole(
  sql: Sql,
  organizationId: string,
  id: string,
  change: { name: string; description?: string },
  now: Date,
): Promise<boolean> {
  const changed = await sql`update custom_role set ${sql({ ...change, updated_at: now })}, version = version + 1
    where id = ${id} and organization_id = ${organizationId}`
  return changed.count === 1
}

export interface ClusterGrant {
  readonly cluster_id: string
  readonly permission: ClusterLevel
}
export interface ProjectGrant
  extends Readonly<Record<'development' | 'preview' | 'staging' | 'production', ProjectLevel>> {
  readonly project_id: string
  readonly is_admin: boolean
}

/** Returns the clusters and projects among these that do not belong to the organization. */
export async function findForeign(
  sql: Sql,
  organizationId: string,
  ids: { readonly clusters: readonly string[]; readonly projects: readonly string[] },
): Promise<{ clusters: string[]; projects: string[] }> {
  const [row] = await sql<{ clusters: string[]; projects: string[] }[]>`
    select
      array(select id::text from unnest(${[...ids.clusters]}::uuid[]) as wanted (id) where not exists (
        select from cluster c where c.id = wanted.id and c.organization_id = ${organizationId})) as clusters,
      array(select id::text from unnest(${[...ids.projects]}::uuid[]) as wanted (id) where not exists (
        select from project p where p.id = wanted.id and p.organization_id = ${organizationId})) as projects`
  return { clusters: row?.clusters ?? [], projects: row?.projects ?? [] }
}

/** Replaces all rights of the role. */
export async function replaceGrants(
  sql: Sql,
  roleId: string,
  clusters: readonly ClusterGrant[],
  projects: readonly ProjectGrant[],
): Promise<void> {
  await sql`delete from custom_role_cluster where role_id = ${roleId}`
  await sql`delete from custom_role_project where role_id = ${roleId}`
  const owned = <T extends object>(grants: readonly T[]) => grants.map((grant) => ({ role_id: roleId, ...grant }))
  if (clusters.length > 0) await sql`insert into custom_role_cluster ${sql(owned(clusters))}`
  if (projects.length > 0) await sql`insert into custom_role_project ${sql(owned(projects))}`
}

/** The role in the form that the first statement of a request needs. */
const rights = (sql: Sql, roleId: string) => sql`
  jsonb_build_object(
    'clusters', (select coalesce(jsonb_object_agg(c.cluster_id, c.permission), '{}')
      from custom_role_cluster c where c.role_id = ${roleId}),
    'projects', (select coalesce(jsonb_object_agg(p.project_id, jsonb_build_object('is_admin', p.is_admin, 'modes',
      jsonb_build_object('DEVELOPMENT', p.development, 'PREVIEW', p.preview, 'STAGING', p.staging, 'PRODUCTION',
      p.production))), '{}')
      from custom_role_project p where p.role_id = ${roleId}))`

/**
 * Returns the rights for a new holder of the role. The role cannot change until the transaction
 * ends.
 */
export async function findRights(sql: Sql, roleId: string | null): Promise<Json | null> {
  if (roleId === null) return null
  await sql`select from custom_role where id = ${roleId} for share`
  const [row] = await sql<{ rights: Json }[]>`select ${rights(sql, roleId)} as rights`
  return row?.rights ?? null
}

/** Copies the role's current rights to all holders. */
export async function tellHolders(sql: Sql, roleId: string): Promise<void> {
  await sql`update member set custom_rights = ${rights(sql, roleId)} where custom_role_id = ${roleId}`
  await sql`update api_token set custom_rights = ${rights(sql, roleId)} where custom_role_id = ${roleId}`
}

/**
 * Counts the holders of the role and locks it against new ones. Undefined if the role does not
 * exist.
 */
export async function countHolders(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<{ members: number; tokens: number; invitations: number } | undefined> {
  const locked = await sql`select from custom_role where id = ${id} and organization_id = ${organizationId} for update`
  if (locked.length === 0) return undefined
  const [counts] = await sql<{ members: number; tokens: number; invitations: number }[]>`
    select (select count(*)::int from member where custom_role_id = ${id}) as members,
      (select count(*)::int from api_token where custom_role_id = ${id}) as tokens,
      (select count(*)::int from invitation where custom_role_id = ${id}) as invitations`
  return counts
}

export async function deleteCustomRole(sql: Sql, id: string): Promise<void> {
  await sql`delete from custom_role where id = ${id}`
}
