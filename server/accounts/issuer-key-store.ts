import type { JsonWebKey } from 'node:crypto'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'

export interface IssuerKeyRow {
  readonly id: string
  readonly created_at: Date
  readonly public_key: JsonWebKey
  readonly sealed_private_key: string
}

/** Lists keys, newest first. */
export const listIssuerKeys = (sql: Sql) =>
  sql<IssuerKeyRow[]>`select * from issuer_key order by created_at desc, id desc`

/** Takes the lock for creating keys until the transaction ends. */
export async function lockIssuerKeys(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('quayside issuer keys', 0))`
}

export async function insertIssuerKey(sql: Sql, row: IssuerKeyRow): Promise<void> {
  const { id, created_at, public_key, sealed_private_key } = row
  await sql`
    insert into issuer_key (id, created_at, public_key, sealed_private_key)
    values (${id}, ${created_at}, ${sql.json(public_key as Json)}, ${sealed_private_key})`
}

export async function deleteIssuerKeys(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from issuer_key where id = any(${[...ids]}::uuid[])`
}
