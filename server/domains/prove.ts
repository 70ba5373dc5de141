import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { isSeenInDns, judgeRivals, type Rival } from './claim.ts'
import { lockOwner } from './custom-domain-store.ts'
import { type Evidence, newProof, nextProof } from './proof.ts'
import { type DueDomain, listRivals, lockDomain, lockProofs, storeProof } from './proof-store.ts'
import { replaceCustomHosts } from './route-store.ts'

/** A change of a domain's proof that people should know about. */
export type ProofChange = 'proven' | 'lost' | 'found again' | 'released'

export interface ProofResult {
  readonly change: ProofChange | undefined
  /** Domains of other organizations that lost their traffic to this one. */
  readonly displaced: readonly Rival[]
}

/**
 * Stores the DNS result of a domain. A proof starts its route. Undefined if the domain was changed
 * or deleted meanwhile.
 */
export function storeEvidence(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  due: Pick<DueDomain, 'id' | 'domain' | 'service_id'>,
  evidence: Evidence,
): Promise<ProofResult | undefined> {
  return inTransaction(database, async (sql) => {
    await lockProofs(sql)
    const row = await lockDomain(sql, due)
    if (!row) return undefined
    const { id, domain } = row
    const now = clock.now()
    const rivals = 'proven' in evidence ? await listRivals(sql, row.organization_id, domain) : []
    const { blocking, yielding } = judgeRivals(domain, 'proven' in evidence ? evidence.proven : 'WAIVED', rivals, now)
    const next = nextProof(row, evidence, blocking !== undefined, now)
    const isFirstSeen = next.proof !== null && isSeenInDns(next.proof) && !(row.proof && isSeenInDns(row.proof))
    const displaced = isFirstSeen ? yielding : []
    for (const rival of displaced) await displace(sql, rival, now)
    await storeProof(sql, id, next, now)
    if (row.proof !== next.proof) await replaceCustomHosts(sql, row.service_id, now)
    return { change: changeOf(row, next), displaced }
  })
}

/** Checks a name again like a new one, after DNS named another organization for it. */
async function displace(sql: Sql, { id, service_id }: Rival, now: Date): Promise<void> {
  await lockOwner(sql, service_id)
  await storeProof(sql, id, newProof(now, undefined), null)
  await replaceCustomHosts(sql, service_id, now)
}

function changeOf(before: DueDomain, after: ReturnType<typeof nextProof>): ProofChange | undefined {
  if (before.proof === null && after.proof !== null) return 'proven'
  if (before.lost_since === null && after.lost_since !== null) return 'lost'
  if (before.lost_since !== null && after.lost_since === null) return 'found again'
  return after.next_ask_at === null ? 'released' : undefined
}
