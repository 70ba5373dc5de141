import type { Sql } from '../database/index.ts'

/** Finds the oldest organization if nobody owns it. */
export async function findOwnerless(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ id: string; owner: string | null }[]>`
    select id, owner from organization order by created_at, id limit 1`
  return row && row.owner === null ? row.id : undefined
}

/** Stores the only link of an organization. A new one invalidates the previous one. */
export async function replaceLink(
  sql: Sql,
  row: { token_hash: Buffer; organization_id: string; created_at: Date; expires_at: Date },
): Promise<void> {
  await sql`delete from account_link where organization_id = ${row.organization_id}`
  await sql`insert into account_link ${sql(row)}`
}

/**
 * Finds the organization of a link. Undefined if the link is unknown, used or expired, or if the
 * organization now has an owner.
 */
export async function findLink(sql: Sql, tokenHash: Buffer, now: Date): Promise<string | undefined> {
  const [row] = await sql<{ organization_id: string }[]>`
    select l.organization_id from account_link l join organization o on o.id = l.organization_id
    where l.token_hash = ${tokenHash} and l.used_at is null and l.expires_at > ${now} and o.owner is null`
  return row?.organization_id
}

/** Returns false if another request used the link first. */
export async function useLink(sql: Sql, tokenHash: Buffer, now: Date): Promise<boolean> {
  const used = await sql`
    update account_link set used_at = ${now} where token_hash = ${tokenHash} and used_at is null
    and expires_at > ${now}`
  return used.count === 1
}
