import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { findNewAnchor, listOverdue, lockChain, moveAnchor, setRetention } from './chain-store.ts'

const mostRows = 5000

export interface PrunerOptions {
  readonly database: Database
  readonly clock: Clock
  /**
   * Days that every organization keeps its audit log, if the operator sets it. Otherwise each uses
   * its own setting.
   */
  readonly days?: number | undefined
}

/** Removes expired rows from the beginning of a chain and anchors the chain after them. */
export const createPruner = ({ database, clock, days }: PrunerOptions) => ({
  name: 'audit retention',
  everyMs: 60_000,
  async reconcile(signal: AbortSignal): Promise<void> {
    if (days !== undefined) await setRetention(database, days)
    for (const { organization_id: organizationId, cutoff } of await listOverdue(database, clock.now())) {
      while (!signal.aborted && (await pruneSome(database, organizationId, cutoff))) {}
    }
  },
})

/** Whether more rows may exist. */
const pruneSome = (database: Database, organizationId: string, cutoff: Date): Promise<boolean> =>
  inTransaction(database, async (sql) => {
    const chain = await lockChain(sql, organizationId)
    const anchor = await findNewAnchor(sql, chain, cutoff, mostRows)
    if (!anchor) return false
    await moveAnchor(sql, organizationId, anchor)
    return anchor.sequence === chain.anchor_sequence + mostRows
  })
