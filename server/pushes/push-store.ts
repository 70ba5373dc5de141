import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import type { Push } from './push.ts'

export type PushSource = 'BITBUCKET' | 'BUILT_IN' | 'GITHUB' | 'GITLAB'

export interface PushRow {
  readonly id: string
  readonly organization_id: string
  readonly source: PushSource
  readonly repositories: string[]
  readonly branch: string
  readonly before: string | null
  readonly commit: string
  readonly pusher: string
  readonly paths: string[] | null
  readonly received_at: Date
  readonly handled_at: Date | null
}

/** The result of a push for one service. */
export interface PushedServiceRow {
  readonly push_id: string
  readonly service_id: string
  readonly service_name: string
  readonly kind: KindName
  readonly environment_id: string
  readonly environment_name: string
  readonly environment_mode: string
  readonly project_id: string
  readonly result: 'DEPLOYED' | 'LEFT_OUT' | 'REFUSED'
  readonly reason: string | null
  readonly request_id: string | null
}

export async function insertPush(sql: Sql, push: Push & { readonly id: string; readonly receivedAt: Date }) {
  const { id, organizationId, source, repositories, branch, before, commit, pusher, paths, receivedAt } = push
  await sql`
    insert into git_push (id, organization_id, source, repositories, branch, before, commit, pusher, paths, received_at)
    values (${id}, ${organizationId}, ${source}, ${[...repositories]}, ${branch}, ${before ?? null}, ${commit},
    ${pusher},
      ${paths ? [...paths] : null}, ${receivedAt})`
}

export async function findPush(sql: Sql, id: string): Promise<PushRow | undefined> {
  const [row] = await sql<PushRow[]>`select * from git_push where id = ${id}`
  return row
}

export async function setPushHandled(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`update git_push set handled_at = coalesce(handled_at, ${now}) where id = ${id}`
}

/** Inserts once per service. A repetition for the same push throws a unique violation. */
export async function insertPushedServices(sql: Sql, rows: readonly PushedServiceRow[]): Promise<void> {
  if (rows.length > 0) await sql`insert into git_push_service ${sql(rows.map((row) => ({ ...row })))}`
}

/** Lists the ids of services with a decision for the push. */
export async function listDecided(sql: Sql, pushId: string): Promise<Set<string>> {
  const rows = await sql<{ service_id: string }[]>`select service_id from git_push_service where push_id = ${pushId}`
  return new Set(rows.map((row) => row.service_id))
}

/** Lists the last pushes of an organization, newest first, with their results. */
export const listPushes = (sql: Sql, organizationId: string, count: number) =>
  sql<(PushRow & { readonly services: PushedServiceRow[] })[]>`
    select p.*, coalesce(s.services, '[]') as services
    from (select * from git_push where organization_id = ${organizationId} order by seq desc limit ${count}) p
    left join lateral (select jsonb_agg(to_jsonb(one) order by one.service_name, one.service_id) as services
      from git_push_service one where one.push_id = p.id) s on true
    order by p.seq desc`

/** An address of a repository, and an environment with a service that uses it. */
export interface UsedAddressRow {
  readonly address: string
  readonly project_id: string
  readonly mode: string
}

/** Lists the repositories that the services of an organization use, each with its places. */
export const listUsedAddresses = (sql: Sql, organizationId: string) =>
  sql<UsedAddressRow[]>`
    select distinct u.address, e.project_id, e.mode
    from project p join environment e on e.project_id = p.id join service s on s.environment_id = e.id
      cross join lateral unnest(s.repository_urls) u(address)
    where p.organization_id = ${organizationId}`

/**
 * Whether a webhook reported a push to that repository, and whether a webhook of its provider
 * exists.
 */
export async function findHearing(
  sql: Sql,
  organizationId: string,
  { key, provider }: { readonly key: string; readonly provider: string },
): Promise<{ readonly is_told: boolean; readonly has_webhook: boolean }> {
  const [row] = await sql<{ is_told: boolean; has_webhook: boolean }[]>`
    select exists (select from git_push where organization_id = ${organizationId}
    and ${key} = any(repositories)) as is_told,
      exists (select from git_webhook where organization_id = ${organizationId}
      and provider = ${provider}) as has_webhook`
  return row ?? { is_told: false, has_webhook: false }
}

/**
 * Whether this push was reported late. It was if an earlier report of the same branch says that the
 * branch was at this commit and moved on, and this push does not go back to it.
 */
export async function isOvertaken(sql: Sql, push: PushRow): Promise<boolean> {
  const [row] = await sql<{ is_late: boolean }[]>`
    select p.before = ${push.commit} and p.commit is distinct from ${push.before} as is_late from git_push p
    where p.organization_id = ${push.organization_id} and p.branch = ${push.branch}
      and p.repositories && ${push.repositories}::text[] and p.seq < (select seq from git_push where id = ${push.id})
    order by p.seq desc limit 1`
  return row?.is_late ?? false
}

/** Deletes pushes with their work. Returns their number. */
export async function deletePushesBefore(sql: Sql, before: Date): Promise<number> {
  const deleted = await sql`
    delete from workflow where id in (select id from git_push where received_at < ${before}) and state <> 'running'`
  return deleted.count
}
