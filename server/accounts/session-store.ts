import type { Sql } from '../database/index.ts'
import type { RecordRow } from './record-store.ts'

/** A session of a browser, or a refresh token that a program keeps. */
export type SessionRow = Pick<RecordRow, 'model' | 'id_hash' | 'sealed_payload' | 'grant_id' | 'expires_at' | 'agent'>

const mostListed = 100

/**
 * Lists the valid sessions of an account and the refresh tokens that last without one, the last
 * used first.
 */
export const listSessions = (sql: Sql, accountId: string, now: Date) =>
  sql<SessionRow[]>`
    select model, id_hash, sealed_payload, grant_id, expires_at, agent from issuer_record
    where account_id = ${accountId} and (model = 'Session' or model = 'RefreshToken' and agent is not null)
      and consumed_at is null and expires_at > ${now}
    order by expires_at desc limit ${mostListed}`

/** One of the sessions of an account, or all of them but one. */
export type Ended = { readonly idHash: string } | { readonly except: string }

/**
 * Ends sessions of an account, with everything that was issued to their programs. Access tokens and
 * sessions at applications end for the whole account; living sessions get new ones by themselves.
 */
export async function endSessions(sql: Sql, accountId: string, ended: Ended, now: Date): Promise<void> {
  if ('idHash' in ended) {
    const [row] = await sql<{ model: string; grant_id: string | null }[]>`
      select model, grant_id from issuer_record where account_id = ${accountId} and id_hash = ${ended.idHash}
        and model in ('Session', 'RefreshToken')`
    if (!row) return
    await sql`delete from issuer_record where account_id = ${accountId} and id_hash = ${ended.idHash}`
    if (row.model === 'RefreshToken' && row.grant_id !== null) {
      await sql`delete from issuer_record where account_id = ${accountId} and grant_id = ${row.grant_id}`
    }
  } else {
    await sql`delete from issuer_record where account_id = ${accountId} and model <> 'Grant'
      and not (model = 'Session' and id_hash = ${ended.except})`
  }
  await sql`update account set signed_out_at = ${now}, tokens_since = date_trunc('second', ${now}::timestamptz)
    where id = ${accountId}`
}
