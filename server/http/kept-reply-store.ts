import type { Sql } from '../database/index.ts'

export interface KeptRow {
  readonly caller: string
  readonly key: string
  readonly organization_id: string | null
  readonly request_hash: Buffer
  /** Null while the request is in progress. */
  readonly status: number | null
  /** Sealed. */
  readonly body: string | null
}

/**
 * Takes a key that is free or was used before the cutoff. Returns false if it is taken. If a
 * request with the key is in progress, it waits until that ends.
 */
export async function insertKey(
  sql: Sql,
  row: { readonly caller: string; readonly key: string; readonly request_hash: Buffer; readonly created_at: Date },
  cutoff: Date,
): Promise<boolean> {
  const taken = await sql`
    insert into kept_reply (caller, key, request_hash, created_at)
    values (${row.caller}, ${row.key}, ${row.request_hash}, ${row.created_at})
    on conflict (caller, key) do update set request_hash = excluded.request_hash, created_at = excluded.created_at,
      organization_id = null, status = null, body = null
    where kept_reply.created_at < ${cutoff}
    returning key`
  return taken.length === 1
}

export async function findKept(sql: Sql, caller: string, key: string): Promise<KeptRow | undefined> {
  const [row] = await sql<KeptRow[]>`select * from kept_reply where caller = ${caller} and key = ${key}`
  return row
}

export async function setReply(
  sql: Sql,
  { caller, key }: Pick<KeptRow, 'caller' | 'key'>,
  reply: Pick<KeptRow, 'organization_id' | 'status' | 'body'>,
): Promise<void> {
  await sql`update kept_reply set ${sql(reply, 'organization_id', 'status', 'body')} where caller = ${caller}
    and key = ${key}`
}

export async function deleteKept(sql: Sql, before: Date): Promise<void> {
  await sql`delete from kept_reply where created_at < ${before}`
}
