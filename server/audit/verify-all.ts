import type { Database } from '../database/index.ts'
import { type ChainState, verifyChain } from './chain.ts'
import { findSealed, listChained } from './chain-store.ts'
import type { EventRow } from './event-store.ts'

/** The result of checking one organization's record of changes. */
export interface Verified {
  readonly organizationId: string
  /** Of the organization; of one that is gone, empty. */
  readonly name: string
  readonly state: ChainState
  /** The row that has the number of the first one that does not fit. */
  readonly row: Pick<EventRow, 'id' | 'created_at' | 'event_type' | 'target_type' | 'target_name'> | undefined
}

/**
 * Verifies the chains of all organizations at one moment: what a running server seals or removes meanwhile, as its retention says, is not taken
 * for a change by hand.
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
