import { createHash } from 'node:crypto'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { findChain, listSealed, listUnsealed, listUnsealedOrganizations, lockChain, sealRows } from './chain-store.ts'
import type { EventRow } from './event-store.ts'

/** Every field that a row tells, in a fixed order: what the hash covers beside the hash before it and the row's number. */
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

/** SHA-256 of the hash before it, its number and the row as JSON. */
export const hashOf = (previous: Buffer, sequence: number, row: EventRow): Buffer =>
  createHash('sha256')
    .update(previous)
    .update(JSON.stringify([sequence, ...fields.map((field) => row[field])]))
    .digest()

const mostOrganizations = 100
const mostRows = 500

/**
 * Gives rows that were committed their place in the chain of their organization: in the order of commits as this sees them, and of
 * writing among those that it sees at once. Rows are not chained where they are written: each would wait there for the end of
 * every other change of the organization.
 */
export const createSealer = ({ database }: { readonly database: Database }) => ({
  name: 'audit chain',
  everyMs: 1000,
  async reconcile(signal: AbortSignal): Promise<void> {
    for (const organizationId of await listUnsealedOrganizations(database, mostOrganizations)) {
      while (!signal.aborted && (await sealSome(database, organizationId)) === mostRows) {}
    }
  },
})

/** How many were sealed. */
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

/** Whether every row since the anchor is as it was sealed, and none is missing; else the first number where that is not so. */
export type ChainState =
  | { readonly intact: true; readonly rows: number }
  | { readonly intact: false; readonly sequence: number; readonly reason: 'missing' | 'changed' }

/** Computes the chain of an organization anew. */
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
  // More may have been sealed since the chain's end was read; fewer may not.
  if (sequence < chain.sequence) return { intact: false, sequence: sequence + 1, reason: 'missing' }
  return { intact: true, rows: sequence - chain.anchor_sequence }
}
