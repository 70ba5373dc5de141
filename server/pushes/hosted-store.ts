import type { Sql } from '../database/index.ts'

/** A repository of the built-in git host. */
export interface Hosted {
  readonly organizationId: string
  readonly repository: string
}

export interface ReceiveRow {
  readonly id: string
  readonly organization_id: string
  readonly repository: string
  readonly pusher: string
  readonly started_at: Date
}

/** Returns false if the repository is already known. */
export async function insertHosted(sql: Sql, { organizationId, repository }: Hosted): Promise<boolean> {
  const inserted = await sql`
    insert into hosted_repository (organization_id, name) values (${organizationId}, ${repository})
    on conflict do nothing`
  return inserted.count === 1
}

export async function insertReceive(sql: Sql, row: ReceiveRow): Promise<void> {
  await sql`insert into git_receive ${sql({ ...row })}`
}

/** An SQL expression: whether a push is not recorded yet. */
export const hasReceive = (sql: Sql) => sql`exists (select from git_receive)`

export const listReceives = (sql: Sql) => sql<ReceiveRow[]>`select * from git_receive order by started_at`

export async function deleteReceive(sql: Sql, id: string): Promise<void> {
  await sql`delete from git_receive where id = ${id}`
}

/** Deletes what is stored of a repository that holds nothing. */
export async function deleteHosted(sql: Sql, { organizationId, repository }: Hosted): Promise<void> {
  await sql`delete from hosted_repository where organization_id = ${organizationId} and name = ${repository}`
}

/** Returns the recorded commits and their version, or undefined for an unknown repository. */
export async function findHosted(
  sql: Sql,
  { organizationId, repository }: Hosted,
): Promise<{ readonly version: string; readonly heads: Readonly<Record<string, string>> } | undefined> {
  const [row] = await sql<{ version: string; heads: Record<string, string> }[]>`
    select r.version::text as version, coalesce(jsonb_object_agg(b.name, b.commit) filter (where b.name is not
    null), '{}') as heads
    from hosted_repository r
    left join hosted_branch b on b.organization_id = r.organization_id and b.repository = r.name
    where r.organization_id = ${organizationId} and r.name = ${repository}
    group by r.organization_id, r.name`
  return row
}

/**
 * Returns false after a concurrent write: compare again. Locks the repository until the transaction
 * ends.
 */
export async function raiseVersion(
  sql: Sql,
  { organizationId, repository }: Hosted,
  version: string,
): Promise<boolean> {
  const raised = await sql`
    update hosted_repository set version = version + 1
    where organization_id = ${organizationId} and name = ${repository} and version = ${version}::bigint`
  return raised.count === 1
}

export async function upsertBranches(
  sql: Sql,
  { organizationId, repository }: Hosted,
  heads: readonly (readonly [name: string, commit: string])[],
): Promise<void> {
  const rows = heads.map(([name, commit]) => ({ name, commit }))
  if (rows.length === 0) return
  await sql`
    insert into hosted_branch (organization_id, repository, name, commit)
    select ${organizationId}, ${repository}, name, commit
    from jsonb_to_recordset(${sql.json(rows)}) as one(name text, commit text)
    on conflict (organization_id, repository, name) do update set commit = excluded.commit`
}

export async function deleteBranches(
  sql: Sql,
  { organizationId, repository }: Hosted,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  await sql`
    delete from hosted_branch
    where organization_id = ${organizationId} and repository = ${repository} and name = any(${[...names]}::text[])`
}

export async function deleteAllBranches(sql: Sql, { organizationId, repository }: Hosted): Promise<void> {
  await sql`delete from hosted_branch where organization_id = ${organizationId} and repository = ${repository}`
}
