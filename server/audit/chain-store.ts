import type { Sql } from '../database/index.ts'
import type { EventRow } from './event-store.ts'

export interface ChainRow {
  readonly organization_id: string
  readonly sequence: number
  readonly hash: Buffer
  readonly anchor_sequence: number
  readonly anchor_hash: Buffer
}

export type SealedRow = EventRow & { readonly sequence: number; readonly hash: Buffer }

/** An SQL expression: whether rows are not in the chain of their organization yet. */
export const hasUnsealed = (sql: Sql) => sql`exists (select from audit_event where sequence is null)`

/** Lists organizations with unsealed rows. */
export const listUnsealedOrganizations = async (sql: Sql, limit: number): Promise<string[]> =>
  (
    await sql<{ organization_id: string }[]>`
      select distinct organization_id from audit_event where sequence is null limit ${limit}`
  ).map((row) => row.organization_id)

/** Locks the chain, creating it if it does not exist. Other sealing and pruning waits. */
export async function lockChain(sql: Sql, organizationId: string): Promise<ChainRow> {
  await sql`insert into audit_chain (organization_id) values (${organizationId}) on conflict do nothing`
  const [row] = await sql<ChainRow[]>`select * from audit_chain where organization_id = ${organizationId} for update`
  if (!row) throw new Error('the new chain of the audit log does not exist')
  return row
}

/** Lists unsealed rows in the order in which they were written. */
export const listUnsealed = (sql: Sql, organizationId: string, limit: number) =>
  sql<EventRow[]>`
    select * from audit_event where organization_id = ${organizationId} and sequence is null order by position
    limit ${limit}`

export async function sealRows(
  sql: Sql,
  organizationId: string,
  sealed: readonly { readonly id: string; readonly sequence: number; readonly hash: string }[],
): Promise<void> {
  const last = sealed.at(-1)
  if (!last) return
  await sql`
    update audit_event e set sequence = s.sequence, hash = decode(s.hash, 'hex')
    from jsonb_to_recordset(${sql.json(sealed.map((row) => ({ ...row })))}) as s(id uuid, sequence bigint, hash text)
    where e.id = s.id`
  await sql`
    update audit_chain set sequence = ${last.sequence}, hash = decode(${last.hash}, 'hex')
    where organization_id = ${organizationId}`
}

export async function findChain(sql: Sql, organizationId: string): Promise<ChainRow | undefined> {
  const [row] = await sql<ChainRow[]>`select * from audit_chain where organization_id = ${organizationId}`
  return row
}

export const listSealed = (sql: Sql, organizationId: string, after: number, limit: number) =>
  sql<SealedRow[]>`
    select * from audit_event where organization_id = ${organizationId} and sequence > ${after} order by sequence
    limit ${limit}`

/** Lists organizations whose oldest sealed rows have expired, and deleted organizations. */
export const listOverdue = (sql: Sql, now: Date) =>
  sql<{ organization_id: string; cutoff: Date }[]>`
    select c.organization_id, l.cutoff from audit_chain c
    left join organization o on o.id = c.organization_id
    cross join lateral (
      select case when o.id is null then ${now}::timestamptz
        else ${now}::timestamptz - make_interval(days => o.audit_logs_retention_in_days) end as cutoff
    ) l
    where exists (
      select from audit_event e
      where e.organization_id = c.organization_id and e.sequence = c.anchor_sequence + 1 and e.created_at < l.cutoff)`

/** Finds the last row of the expired beginning of the chain, at most this many rows on. */
export async function findNewAnchor(
  sql: Sql,
  chain: ChainRow,
  cutoff: Date,
  most: number,
): Promise<{ sequence: number; hash: Buffer } | undefined> {
  const { organization_id: organizationId, anchor_sequence: anchor } = chain
  const [row] = await sql<{ sequence: number; hash: Buffer }[]>`
    select sequence, hash from audit_event e
    where organization_id = ${organizationId} and sequence > ${anchor} and sequence <= ${anchor + most}
      and sequence < coalesce((select min(sequence) from audit_event
        where organization_id = ${organizationId} and sequence > ${anchor}
        and created_at >= ${cutoff}), ${anchor + most + 1})
    order by sequence desc limit 1`
  return row
}

/** Moves the anchor of the chain forward and deletes the rows before it. */
export async function moveAnchor(
  sql: Sql,
  organizationId: string,
  anchor: { readonly sequence: number; readonly hash: Buffer },
): Promise<void> {
  await sql`
    update audit_chain set anchor_sequence = ${anchor.sequence}, anchor_hash = ${anchor.hash}
    where organization_id = ${organizationId}`
  await sql`delete from audit_event where organization_id = ${organizationId} and sequence <= ${anchor.sequence}`
}

/** Sets the retention of every organization. */
export async function setRetention(sql: Sql, days: number): Promise<void> {
  await sql`
    update organization set audit_logs_retention_in_days = ${days} where audit_logs_retention_in_days <> ${days}`
}

/** Lists organizations with a chain, or with sealed rows but without a chain. */
export const listChained = (sql: Sql) =>
  sql<{ organization_id: string; name: string; has_chain: boolean }[]>`
    select i.organization_id, coalesce(o.name, '') as name, c.organization_id is not null as has_chain
    from (select organization_id from audit_chain
      union select organization_id from audit_event where sequence is not null) i
    left join audit_chain c on c.organization_id = i.organization_id
    left join organization o on o.id = i.organization_id order by i.organization_id`

export async function findSealed(sql: Sql, organizationId: string, sequence: number): Promise<SealedRow | undefined> {
  const [row] = await sql<SealedRow[]>`
    select * from audit_event where organization_id = ${organizationId} and sequence = ${sequence}`
  return row
}
