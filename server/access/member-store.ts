import type { Permission } from '@quayside/contract/operation.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'

export interface Member {
  readonly issuer: string
  readonly subject: string
  readonly permissions: readonly Permission[]
}

/** The organization that was made first. */
export async function findFirstOrganization(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from organization order by created_at, id limit 1`
  return row?.id
}

/** Adds or changes the account and its membership; gives the account's id. */
export async function saveMember(sql: Sql, organizationId: string, member: Member, now: Date): Promise<string> {
  const [account] = await sql<{ id: string }[]>`
    insert into account (id, created_at, issuer, subject, name)
    values (${newId()}, ${now}, ${member.issuer}, ${member.subject}, ${member.subject})
    on conflict (issuer, subject) do update set name = excluded.name returning id`
  if (!account) throw new Error('insert returned no row')
  await sql`
    insert into member (organization_id, account_id, created_at, permissions)
    values (${organizationId}, ${account.id}, ${now}, ${[...member.permissions]})
    on conflict (organization_id, account_id) do update set permissions = excluded.permissions`
  return account.id
}

export async function deleteOtherMembers(sql: Sql, organizationId: string, kept: readonly string[]): Promise<void> {
  await sql`delete from member where organization_id = ${organizationId} and account_id <> all(${[...kept]}::uuid[])`
}
