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

/** The password of an account. */
export type OwnPassword = PasswordRow & { readonly account_id: string }

/** Lists the passwords of the accounts with that address, the oldest account first. */
export const findPasswords = (sql: Sql, email: string) =>
  sql<OwnPassword[]>`
    select p.account_id, p.salt, p.hash, p.cost, p.block_size, p.parallelization
    from account a join account_password p on p.account_id = a.id
    where lower(a.email) = lower(${email}) order by a.created_at, a.id`
