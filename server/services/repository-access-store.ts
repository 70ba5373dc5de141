import type { Sql } from '../database/index.ts'

/**
 * One contact with a repository: the caller, the credential and whether the repository was
 * readable.
 */
export interface RepositoryContact {
  readonly organizationId: string
  readonly url: string
  /** The git token that was presented, and the version of its credential; null without one. */
  readonly gitToken: { readonly id: string; readonly version: number } | null
  readonly hasAccess: boolean
  readonly checkedAt: Date
}

/**
 * Stores the contact unless a later one is stored. Returns whether the repository is new to the
 * organization.
 */
export async function upsertContact(sql: Sql, contact: RepositoryContact): Promise<boolean> {
  const { organizationId, url, gitToken, hasAccess, checkedAt } = contact
  const rows = await sql<{ is_new: boolean }[]>`
    insert into repository_access as a
      (organization_id, address, git_token_id, credential_version, has_access, checked_at)
    select o.id, repository_address(${url}), g.id, ${gitToken?.version ?? null}::int, ${hasAccess}, ${checkedAt}
    from organization o left join git_token g on g.id = ${gitToken?.id ?? null}::uuid and g.organization_id = o.id
    where o.id = ${organizationId} and (${gitToken?.id ?? null}::uuid is null or g.id is not null)
    on conflict on constraint repository_access_key do update
      set has_access = excluded.has_access, credential_version = excluded.credential_version, checked_at =
      excluded.checked_at
      where (coalesce(excluded.credential_version, 0), excluded.checked_at) >= (coalesce(a.credential_version, 0),
      a.checked_at)
    returning a.xmax = 0 as is_new`
  return rows[0]?.is_new ?? false
}

/**
 * Deletes contacts with repositories that no service of the organization uses, except the latest
 * `kept`.
 */
export async function pruneContacts(sql: Sql, organizationId: string, kept: number): Promise<void> {
  await sql`
    delete from repository_access a using (
      select o.address, o.git_token_id from repository_access o
      where o.organization_id = ${organizationId} and not exists (
        select from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id,
          unnest(s.repository_urls) u(url)
        where p.organization_id = ${organizationId} and repository_address(u.url) = o.address
          and (o.git_token_id is null or o.git_token_id = s.git_token_id))
      order by o.checked_at desc offset ${kept}
    ) unused
    where a.organization_id = ${organizationId} and a.address = unused.address
      and a.git_token_id is not distinct from unused.git_token_id`
}
