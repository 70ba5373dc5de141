import type { ProofStateName } from '@quayside/contract/resources/custom-domain.ts'
import type { CustomDomainRow } from './custom-domain-store.ts'
import { type ProofState, recordsFor } from './proof.ts'

/**
 * Returns a custom domain in API format. The public API has one status; `proof` has the details.
 */
export function toRecord(row: CustomDomainRow, validationDomain: string) {
  const { id, created_at, updated_at, domain, generate_certificate, use_cdn } = row
  return {
    id,
    created_at,
    updated_at,
    domain,
    generate_certificate,
    use_cdn,
    validation_domain: validationDomain,
    status: 'VALIDATION_PENDING' as const,
    proof: {
      state: stateOf(row),
      method: row.proof,
      proven_at: row.proven_at,
      lost_since: row.lost_since,
      checked_at: row.asked_at,
      next_check_at: row.next_ask_at,
      message: row.finding,
      records: recordsFor(row, validationDomain),
    },
  }
}
export type CustomDomainRecord = ReturnType<typeof toRecord>

function stateOf({ proof, lost_since, next_ask_at }: ProofState): ProofStateName {
  if (proof !== null) return lost_since === null ? 'PROVEN' : 'LOST'
  return next_ask_at === null ? 'RELEASED' : 'PENDING'
}
