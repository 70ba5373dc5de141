import { baseOf, isAtOrBelow } from './domain-name.ts'
import type { ProofMethod } from './proof.ts'

/** A proven domain of another organization that is equal to a name, below it or above it. */
export interface Rival {
  readonly id: string
  readonly service_id: string
  readonly domain: string
  readonly proof: ProofMethod
  readonly lost_since: Date | null
}

/**
 * For so long a lost proof still keeps other organizations away: an accident in somebody's DNS does
 * not cost them their name.
 */
export const lostGraceMs = 3 * 86_400_000

/** Whether DNS itself has said whose the name is. */
export const isSeenInDns = (proof: ProofMethod): boolean => proof === 'CNAME' || proof === 'TXT'

/**
 * Pure: which rival keeps an organization from a name, and which give way to it. Only a proof seen
 * in DNS displaces others, and only those without one, or with one that was lost long ago, at the
 * name or below it.
 */
export function judgeRivals(
  domain: string,
  proof: ProofMethod,
  rivals: readonly Rival[],
  now: Date,
): { readonly blocking: Rival | undefined; readonly yielding: readonly Rival[] } {
  const yields = (rival: Rival): boolean =>
    isSeenInDns(proof) && isAtOrBelow(baseOf(rival.domain), baseOf(domain)) && !isHeld(rival, now)
  return { blocking: rivals.find((rival) => !yields(rival)), yielding: rivals.filter(yields) }
}

const isHeld = ({ proof, lost_since }: Rival, now: Date): boolean =>
  isSeenInDns(proof) && (lost_since === null || now.getTime() - lost_since.getTime() < lostGraceMs)
