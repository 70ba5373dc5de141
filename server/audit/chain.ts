import { createHash } from 'node:crypto'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import {
  findChain,
  hasUnsealed,
  listSealed,
  listUnsealed,
  listUnsealedOrganizations,
  lockChain,
  sealRows,
} from './chain-store.ts'
import type { EventRow } from './event-store.ts'

/**
 * All fields of a row in a fixed order. The hash covers them, the previous hash and the row's
 * number.
 */
const fields = [
  'id',
  'organization_id',
  'created_at',
  'event_type',
  'target_type',
  'target_id',
  'target_name',
  'sub_target_type',
  'project_id',
  'project_name',
  'environment_id',
  'environment_name',
  'origin',
  'triggered_by',
  'caller',
  'user_agent',
  'change',
  'original_change',
  'request_id',
] as const satisfies readonly (keyof EventRow)[]

/** SHA-256 of the previous hash, the row's number and the row as JSON. */
export const hashOf = (previous: Buffer, sequence: number, row: EventRow): Buffer =>
  createHash('sha256')
    .update(previous)
    .update(JSON.stringify([sequence, ...fields.map((field) => row[field])]))
    .digest()

const mostOrganizations = 100
const mostRows = 500

/**
 * Appends committed rows to the chain of their organization: in the order of commits as this
 * process sees them, and among those it sees together in the order of writing. Rows are not chained
 * when they are written, because each write would wait for the end of every other change of the
 * organization.
 */
export const createSealer = ({ database }: { readonly database: Database }) => ({
  name: 'audit chain',
  everyMs: 60_000,
  due: hasUnsealed,
  async reconcile(signal: AbortSignal): Promise<void> {
    for (const organizationId of await listUnsealedOrganizations(database, mostOrganizations)) {
      while (!signal.aborted && (await sealSome(database, organizationId)) === mostRows) {}
    }
  },
})

/** Returns the number of sealed rows. */
const sealSome = (database: Database, organizationId: string): Promise<number> =>
  inTransaction(database, async (sql) => {
    let { hash, sequence } = await lockChain(sql, organizationId)
    const sealed = (await listUnsealed(sql, organizationId, mostRows)).map((row) => {
      sequence++
      hash = hashOf(hash, sequence, row)
      return { id: row.id, sequence, hash: hash.toString('hex') }
    })
    await sealRows(sql, organizationId, sealed)
    return sealed.length
  })

/**
 * Whether every row since the anchor is unchanged and none is missing; otherwise the first number
 * that is wrong.
 */
export type ChainState =
  | { readonly intact: true; readonly rows: number }
  | { readonly intact: false; readonly sequence: number; readonly reason: 'missing' | 'changed' }

/** Recomputes the chain of an organization. */
export async function verifyChain(sql: Sql, organizationId: string): Promise<ChainState> {
  const chain = await findChain(sql, organizationId)
  if (!chain) return { intact: true, rows: 0 }
  let { anchor_hash: hash, anchor_sequence: sequence } = chain
  for (;;) {
    const rows = await listSealed(sql, organizationId, sequence, mostRows)
    for (const row of rows) {
      if (row.sequence !== ++sequence) return { intact: false, sequence, reason: 'missing' }
      hash = hashOf(hash, sequence, row)
      if (!hash.equals(row.hash)) return { intact: false, sequence, reason: 'changed' }
    }
    if (rows.length < mostRows) break
  }
  // Rows may have been added since the chain's end was read, but not removed.
  if (sequence < chain.sequence) return { intact: false, sequence: sequence + 1, reason: 'missing' }
  return { intact: true, rows: sequence - chain.anchor_sequence }
}
