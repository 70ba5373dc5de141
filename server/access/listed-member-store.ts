import type { Permission } from '@quayside/contract/operation.ts'
import type { RoleName } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'

/** Somebody of an outside issuer, as the settings say it. */
export interface ListedMember {
  readonly issuer: string
  readonly subject: string
  readonly role: RoleName | null
  readonly permissions: readonly Permission[]
  /** The entry itself, to be compared with the next. */
  readonly listed: string
}

/** The organization that was made first. */
export async function findFirstOrganization(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from organization order by created_at, id limit 1`
  return row?.id
}

/** Adds the account and its membership, or changes it where the entry changed; gives the account's id. An owner stays one. */
export async function saveListed(sql: Sql, organizationId: string, member: ListedMember, now: Date): Promise<string> {
  const { issuer, subject, role, listed } = member
  const [account] = await sql<{ id: string }[]>`
    insert into account (id, created_at, updated_at, issuer, subject, name)
    values (${newId()}, ${now}, ${now}, ${issuer}, ${subject}, ${subject})
    on conflict (issuer, subject) do update set issuer = excluded.issuer returning id`
  if (!account) throw new Error('insert returned no row')
  await sql`
    insert into member (organization_id, account_id, created_at, updated_at, permissions, role, listed)
    values (${organizationId}, ${account.id}, ${now}, ${now}, ${[...member.permissions]}, ${role}, ${listed})
    on conflict (organization_id, account_id) do update
      set permissions = excluded.permissions, role = excluded.role, custom_role_id = null, custom_rights = null,
        listed = excluded.listed,
        updated_at = excluded.updated_at
      where member.listed is distinct from excluded.listed and member.role is distinct from 'OWNER'`
  return account.id
}

/** Those who were listed once and no longer are. */
export async function deleteUnlisted(sql: Sql, organizationId: string, kept: readonly string[]): Promise<void> {
  await sql`delete from member
    where organization_id = ${organizationId} and listed is not null and account_id <> all(${[...kept]}::uuid[])`
}
