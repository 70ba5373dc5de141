import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Issuer } from './jwt.ts'

/**
 * Makes the members that come with JWTs be those of the settings, in the first organization: new ones are added, changed
 * ones changed, and those who are no longer listed lose their membership.
 */
export async function syncMembers(database: Database, clock: Clock, issuers: readonly Issuer[]): Promise<void> {
  await inTransaction(database, async (sql) => {
    const [organization] = await sql<{ id: string }[]>`select id from organization order by created_at, id limit 1`
    if (!organization) return
    const kept: string[] = []
    for (const { issuer, members } of issuers) {
      for (const [subject, permissions] of Object.entries(members)) {
        kept.push(await saveMember(sql, organization.id, { issuer, subject, permissions }, clock.now()))
      }
    }
    await sql`delete from member where organization_id = ${organization.id} and account_id <> all(${kept}::uuid[])`
  })
}

async function saveMember(
  sql: Sql,
  organizationId: string,
  member: { issuer: string; subject: string; permissions: readonly string[] },
  now: Date,
): Promise<string> {
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
