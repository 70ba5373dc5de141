import type { Database } from '../database/index.ts'
import { type ChainState, verifyChain } from './chain.ts'
import { findSealed, listChained } from './chain-store.ts'
import type { EventRow } from './event-store.ts'

/** The result of verifying one organization's audit log. */
export interface Verified {
  readonly organizationId: string
  /** The name of the organization, empty if it was deleted. */
  readonly name: string
  readonly state: ChainState
  /** The first wrong row, found by its number. */
  readonly row: Pick<EventRow, 'id' | 'created_at' | 'event_type' | 'target_type' | 'target_name'> | undefined
}

/**
 * Verifies the chains of all organizations in one snapshot. Rows that a running server seals or
 * removes by retention meanwhile are not reported.
 */
export const verifyAll = (database: Database): Promise<Verified[]> =>
  database.begin('isolation level repeatable read read only', async (sql) => {
    const found: Verified[] = []
    for (const { organization_id: organizationId, name, has_chain } of await listChained(sql)) {
      const state: ChainState = has_chain
        ? await verifyChain(sql, organizationId)
        : { intact: false, sequence: 1, reason: 'missing' }
      const row = state.intact ? undefined : await findSealed(sql, organizationId, state.sequence)
      found.push({ organizationId, name, state, row })
    }
    return found
  })
