import type { Sql } from '../database/index.ts'

/** A branch that a service follows, with its deployed commit. */
export interface Followed {
  readonly id: string
  /** The key of the repository, see `repositoryKey`. */
  readonly key: string
  /** Its name on the built-in git host, if it is hosted there. */
  readonly hosted: string | null
  readonly branch: string
  readonly commit: string
  readonly deployed_at: Date | null
}

/**
 * Lists the ids of services whose branch is ahead of the deployed commit. The built-in git host
 * knows every branch. For other hosts the last reported push counts, unless it was reported late:
 * it must be newer than the deployment, or the branch must be known to have left the deployed
 * commit. A commit that was since found at the head of the branch is newer than a report.
 */
export async function listBehind(
  sql: Sql,
  organizationId: string,
  followed: readonly Followed[],
): Promise<Set<string>> {
  if (followed.length === 0) return new Set()
  const toldOf = sql`p.organization_id = ${organizationId} and p.branch = w.branch and w.key = any(p.repositories)`
  const rows = await sql<{ id: string }[]>`
    with w as (select * from jsonb_to_recordset(${sql.json(followed.map((one) => ({ ...one })))})
      as one(id uuid, key text, hosted text, branch text, commit text, deployed_at timestamptz))
    select w.id from w join hosted_branch b
      on b.organization_id = ${organizationId} and b.repository = w.hosted and b.name = w.branch
    where b.commit <> w.commit
    union all
    select w.id from w cross join lateral (
      select told.commit, told.received_at from (
        select p.seq, p.commit, p.received_at, p.before, lag(p.commit) over pushes as former, lag(p.before) over
        pushes as passed
        from git_push p where ${toldOf} window pushes as (order by p.seq)) told
      where not coalesce(told.passed = told.commit and told.former is distinct from told.before, false)
      order by told.seq desc limit 1) head
    where w.hosted is null and head.commit <> w.commit
      and (head.received_at > w.deployed_at or exists (select from git_push p where ${toldOf} and p.before = w.commit))`
  return new Set(rows.map(({ id }) => id))
}
