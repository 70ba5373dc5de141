import { readSetting, type Sql, writeSetting } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { type CreationLimits, type LimitKind, limitReached, usualLimits } from './creation-limits.ts'

const key = 'creation_limits'

/** Stores the limits of this server. Each server does so at its start, the last one counts. */
export const saveCreationLimits = (sql: Sql, limits: CreationLimits): Promise<void> => writeSetting(sql, key, limits)

/**
 * Makes sure that there is room for so many more objects, until the transaction ends. Objects of
 * one owner are created one after the other, so concurrent requests see each other. Throws
 * `conflict` with the limit and its setting. `parent` is the id of what has the limit. For
 * environments and services it is the project and the environment in which they are created.
 */
export async function takeRoom(sql: Sql, kind: LimitKind, parent: string, more = 1): Promise<void> {
  const most = await limitOf(sql, kind)
  const [owner] = await (owners[kind]?.(sql, parent) ?? [{ id: parent }])
  if (!owner) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${`creation ${kind} ${owner.id}`}, 0))`
  const [row] = await counts[kind](sql, owner.id)
  if ((row?.count ?? 0) + more > most) throw refusal(kind, most)
}

/**
 * Does the same for an owner that this transaction has made: nobody else can add anything to it.
 * `count` is the number of objects that it gets.
 */
export async function requireRoomOfNew(sql: Sql, kind: LimitKind, count: number): Promise<void> {
  if (count === 0) return
  const most = await limitOf(sql, kind)
  if (count > most) throw refusal(kind, most)
}

const limitOf = async (sql: Sql, kind: LimitKind): Promise<number> =>
  (await readSetting<Partial<CreationLimits>>(sql, key))?.[kind] ?? usualLimits[kind]

const refusal = (kind: LimitKind, most: number): AppError => new AppError('conflict', limitReached(kind, most))

type Query<T> = (sql: Sql, id: string) => Promise<readonly T[]>
type Count = Query<{ readonly count: number }>

const owners: Readonly<Partial<Record<LimitKind, Query<{ readonly id: string }>>>> = {
  environments: (sql, id) => sql`select organization_id as id from project where id = ${id}`,
  services: (sql, id) => sql`
    select p.organization_id as id from environment e join project p on p.id = e.project_id where e.id = ${id}`,
}

const inTable =
  (table: string, column = 'organization_id'): Count =>
  (sql, id) =>
    sql`select count(*)::int as count from ${sql(table)} where ${sql(column)} = ${id}`

const counts: Readonly<Record<LimitKind, Count>> = {
  organizations: inTable('organization', 'owner'),
  projects: inTable('project'),
  environments: (sql, id) => sql`
    select count(*)::int as count from environment e join project p on p.id = e.project_id
    where p.organization_id = ${id}`,
  services: (sql, id) => sql`
    select count(*)::int as count from service s join environment e on e.id = s.environment_id
      join project p on p.id = e.project_id
    where p.organization_id = ${id}`,
  members: (sql, id) => sql`
    select ((select count(*) from member where organization_id = ${id})
      + (select count(*) from invitation where organization_id = ${id}))::int as count`,
  customRoles: inTable('custom_role'),
  apiTokens: inTable('api_token'),
  webhooks: inTable('webhook'),
  gitWebhooks: inTable('git_webhook'),
  gitTokens: inTable('git_token'),
  containerRegistries: inTable('container_registry'),
  helmRepositories: inTable('helm_repository'),
  clusters: inTable('cluster'),
  credentials: inTable('credentials'),
  groups: inTable('tag_group'),
  domains: inTable('custom_domain'),
  unprovenDomains: (sql, id) => sql`
    select count(*)::int as count from custom_domain
    where organization_id = ${id} and proof is null and next_ask_at is not null`,
  serviceDomains: inTable('custom_domain', 'service_id'),
  certificates: (sql, id) => sql`
    select count(*)::int as count from uploaded_certificate u join custom_domain d on d.id = u.custom_domain_id
    where d.organization_id = ${id}`,
  deploymentRules: inTable('project_deployment_rule', 'project_id'),
  stages: inTable('deployment_stage', 'environment_id'),
  waitingRequests: (sql, id) => sql`
    select count(*)::int as count from deployment_request where environment_id = ${id} and status = 'QUEUED'`,
  variables: (sql, id) => sql`
    select ((select count(*) from variable where project_id = ${id})
      + (select count(*) from variable where environment_id = ${id})
      + (select count(*) from variable where service_id = ${id}))::int as count`,
  restrictions: inTable('deployment_restriction', 'service_id'),
  backups: inTable('backup', 'service_id'),
}
