import type { Sql } from '../database/index.ts'

/** An account at a certificate authority, with its sealed key. */
export interface AccountRow {
  readonly directory: string
  readonly url: string
  readonly sealed_key: string
  /** Null for authorities elsewhere. */
  readonly root: string | null
}

export async function findAccount(sql: Sql, directory: string): Promise<AccountRow | undefined> {
  const [row] = await sql<
    AccountRow[]
  >`select directory, url, sealed_key, root from acme_account where directory = ${directory}`
  return row
}

/** Stores an account. Replaces the previous one at the same authority. */
export const storeAccount = async (sql: Sql, row: AccountRow, now: Date): Promise<void> =>
  void (await sql`
    insert into acme_account ${sql({ ...row, created_at: now })}
    on conflict (directory) do update set url = excluded.url, sealed_key = excluded.sealed_key,
      root = excluded.root,      created_at = excluded.created_at`)

export const deleteAccount = async (
  sql: Sql,
  { directory, url }: Pick<AccountRow, 'directory' | 'url'>,
): Promise<void> => void (await sql`delete from acme_account where directory = ${directory} and url = ${url}`)
