import type { Sql } from '../database/index.ts'

/** A record of the issuer: a session, a code, a grant, a refresh token. */
export interface RecordRow {
  readonly model: string
  readonly id_hash: string
  readonly sealed_payload: string
  readonly grant_id: string | null
  readonly uid: string | null
  readonly user_code_hash: string | null
  readonly account_id: string | null
  readonly consumed_at: Date | null
  readonly expires_at: Date | null
  /** The client as it described itself. */
  readonly agent: string | null
}

/** Saves a record. Without `agent` it keeps the one that it has. */
export async function saveRecord(
  sql: Sql,
  row: Omit<RecordRow, 'consumed_at' | 'agent'> & Partial<Pick<RecordRow, 'agent'>>,
): Promise<void> {
  await sql`insert into issuer_record ${sql({ ...row })}
    on conflict (model, id_hash) do update set sealed_payload = excluded.sealed_payload, grant_id = excluded.grant_id,
      uid = excluded.uid, user_code_hash = excluded.user_code_hash, account_id = excluded.account_id,
      expires_at = excluded.expires_at, agent = coalesce(excluded.agent, issuer_record.agent)`
}

/** Finds a record that has not expired. */
export async function findRecord(
  sql: Sql,
  model: string,
  by: { readonly column: 'id_hash' | 'uid' | 'user_code_hash'; readonly value: string },
  now: Date,
): Promise<RecordRow | undefined> {
  const [row] = await sql<RecordRow[]>`
    select * from issuer_record where model = ${model} and ${sql(by.column)} = ${by.value}
      and (expires_at is null or expires_at > ${now})`
  return row
}

export async function consumeRecord(sql: Sql, model: string, idHash: string, now: Date): Promise<void> {
  await sql`update issuer_record set consumed_at = ${now} where model = ${model} and id_hash = ${idHash}`
}

export async function deleteRecord(sql: Sql, model: string, idHash: string): Promise<void> {
  await sql`delete from issuer_record where model = ${model} and id_hash = ${idHash}`
}

/** Deletes a session. Its person is signed out of applications from then on. */
export async function endSession(sql: Sql, idHash: string, now: Date): Promise<void> {
  await sql`
    with ended as (delete from issuer_record where model = 'Session' and id_hash = ${idHash} returning account_id)
    update account set signed_out_at = ${now} where id in (select account_id from ended)`
}

/** Deletes everything that was issued under one grant. */
export async function deleteRecordsOfGrant(sql: Sql, grantId: string): Promise<void> {
  await sql`delete from issuer_record where grant_id = ${grantId}`
}

/** Deletes expired rows of every table of this room. */
export async function deleteExpired(sql: Sql, now: Date, forgottenBefore: Date): Promise<void> {
  await sql`delete from issuer_record where expires_at <= ${now}`
  await sql`delete from account_link where expires_at <= ${now}`
  await sql`delete from sign_in_attempt where last_failed_at <= ${forgottenBefore}`
  await sql`delete from outside_failure where counted_at <= ${forgottenBefore}`
  await sql`delete from outside_state where expires_at <= ${now}`
}
