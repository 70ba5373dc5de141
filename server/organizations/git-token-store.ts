import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

export type GitProvider = 'BITBUCKET' | 'GITHUB' | 'GITLAB'

export interface GitTokenRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly type: GitProvider
  readonly sealed_token: string
  readonly workspace: string | null
  readonly git_api_url: string
  /** The number of changes to the credential or to its host. */
  readonly credential_version: number
  readonly expired_at: string | null
  readonly associated_services_count: number
}

const columns = (sql: Sql) => sql`
  g.*, (select count(*)::int from service s where s.git_token_id = g.id) as associated_services_count`

export const listGitTokens = (sql: Sql, organizationId: string) =>
  sql<GitTokenRow[]>`
    select ${columns(sql)} from git_token g where g.organization_id = ${organizationId} order by g.created_at, g.id`

export async function findGitToken(sql: Sql, organizationId: string, id: string): Promise<GitTokenRow | undefined> {
  const [row] = await sql<GitTokenRow[]>`
    select ${columns(sql)} from git_token g where g.id = ${id} and g.organization_id = ${organizationId}`
  return row
}

/** Prevents other changes of the token for the rest of the transaction. */
export async function lockGitToken(sql: Sql, organizationId: string, id: string): Promise<void> {
  await sql`select id from git_token where id = ${id} and organization_id = ${organizationId} for no key update`
}

export type GitTokenValues = Pick<GitTokenRow, 'name' | 'description' | 'type' | 'workspace' | 'git_api_url'> & {
  readonly sealed_token?: string
}

export async function insertGitToken(
  sql: Sql,
  row: GitTokenValues & { id: string; organization_id: string; sealed_token: string },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'gitTokens', row.organization_id)
  await sql`insert into git_token ${sql({ ...row, created_at: now, updated_at: now })}`
}

export async function updateGitToken(sql: Sql, id: string, values: GitTokenValues, now: Date): Promise<void> {
  await sql`
    update git_token set ${sql({ ...values, updated_at: now })}, version = version + 1,
      credential_version = credential_version + (${values.sealed_token !== undefined}
        or (type, workspace, git_api_url) is distinct
        from (${values.type}, ${values.workspace}, ${values.git_api_url}))::int
    where id = ${id}`
}

export async function deleteGitToken(sql: Sql, id: string): Promise<void> {
  await sql`delete from git_token where id = ${id}`
}
