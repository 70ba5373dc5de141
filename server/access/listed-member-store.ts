import type { Permission } from '@quayside/contract/operation.ts'
import type { RoleName } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'

/** A person of an outside issuer, from the settings. */
export interface ListedMember {
  readonly issuer: string
  readonly subject: string
  readonly role: RoleName | null
  readonly permissions: readonly Permission[]
  /** The entry itself, for comparison with the next one. */
  readonly listed: string
}

/** Finds the oldest organization. */
export async function findFirstOrganization(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from organization order by created_at, id limit 1`
  return row?.id
}

/**
 * Adds the account and its membership, or updates it if the entry changed. Returns the account's
 * id. An owner stays the owner.
 */
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

/** Lists people who were listed once and no longer are. */
export async function deleteUnlisted(sql: Sql, organizationId: string, kept: readonly string[]): Promise<void> {
  await sql`delete from member
    where organization_id = ${organizationId} and listed is not null and account_id <> all(${[...kept]}::uuid[])`
}
