import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { everyOne } from '../lib/every-one.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { createSlots } from '../lib/slots.ts'
import { listUnasked, storeDelegation } from './delegation-store.ts'
import type { DnsProof } from './dns-proof.ts'
import { moved } from './policy.ts'

export interface DelegationOptions {
  readonly database: Database
  readonly clock: Clock
  readonly dns: Pick<DnsProof, 'leads'>
}

/** DNS is asked about each domain so often. */
const askMs = 60_000
/** The domains of one run, and the questions at the same time. */
const [mostAtOnce, slotCount] = [200, 8]

/**
 * Asks DNS which domains of clusters lead the proof of a wildcard to the platform. Their services
 * share one certificate then. A name server that does not answer changes nothing.
 */
export function createDelegationReconciler({ database, clock, dns }: DelegationOptions): Reconciler {
  const slots = createSlots(slotCount)
  return {
    name: 'wildcards-of-clusters',
    everyMs: 15_000,
    reconcile: async (signal) => {
      const now = clock.now()
      const due = await listUnasked(database, { since: moved(now, -askMs), now, most: mostAtOnce })
      const ask = async (one: (typeof due)[number]): Promise<void> => {
        const leads = await dns.leads({ host: `*.${one.domain}`, cluster: one.cluster }, signal)
        await storeDelegation(database, one, { leads, now })
      }
      await everyOne(due.map((one) => slots.run(signal, () => ask(one))))
    },
  }
}
