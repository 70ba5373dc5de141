import type { Sql } from '../database/index.ts'

export interface AccountRow {
  readonly id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly issuer: string
  readonly subject: string
  readonly name: string
  /**
   * The address with which a person of this platform signs in. Nothing proves it, so several
   * accounts may have the same. Null for people of an outside issuer.
   */
  readonly email: string | null
  readonly first_name: string
  readonly last_name: string
  readonly communication_email: string | null
  /** The last sign-in at an outside issuer. Null for people of this platform. */
  readonly outside_signed_in_at: Date | null
  /** The address that an outside issuer verified. No account is found by it. */
  readonly outside_email: string | null
}

export async function findAccount(sql: Sql, id: string): Promise<AccountRow | undefined> {
  const [row] = await sql<AccountRow[]>`select * from account where id = ${id}`
  return row
}

export async function insertAccount(
  sql: Sql,
  row: Omit<AccountRow, 'created_at' | 'updated_at' | 'communication_email' | `outside_${string}`>,
  now: Date,
): Promise<void> {
  await sql`insert into account ${sql({ ...row, created_at: now, updated_at: now })}`
}

export async function setCommunicationEmail(sql: Sql, id: string, email: string | null, now: Date): Promise<void> {
  await sql`update account set communication_email = ${email}, updated_at = ${now} where id = ${id}`
}
