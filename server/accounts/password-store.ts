import type { Sql } from '../database/index.ts'

/** The stored form of a password: scrypt's digest and its parameters. */
export interface PasswordRow {
  readonly salt: Buffer
  readonly hash: Buffer
  readonly cost: number
  readonly block_size: number
  readonly parallelization: number
}

export async function savePassword(sql: Sql, accountId: string, row: PasswordRow, now: Date): Promise<void> {
  await sql`insert into account_password ${sql({ account_id: accountId, updated_at: now, ...row })}
    on conflict (account_id) do update set updated_at = excluded.updated_at, salt = excluded.salt, hash = excluded.hash,
      cost = excluded.cost, block_size = excluded.block_size, parallelization = excluded.parallelization`
}

/** Finds the person who signs in with that address. */
export async function findPassword(
  sql: Sql,
  email: string,
): Promise<(PasswordRow & { readonly account_id: string }) | undefined> {
  const [row] = await sql<(PasswordRow & { account_id: string })[]>`
    select p.* from account_password p join account a on a.id = p.account_id where lower(a.email) = lower(${email})`
  return row
}
