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
 * For this long a lost proof still blocks other organizations, so a DNS accident does not cost the
 * owner the name.
 */
export const lostGraceMs = 3 * 86_400_000

/** Whether DNS itself has confirmed the owner of the name. */
export const isSeenInDns = (proof: ProofMethod): boolean => proof === 'CNAME' || proof === 'TXT'

/**
 * Pure: returns the rival that keeps an organization from a name, and the rivals that lose theirs.
 * Only a proof found in DNS displaces others. It displaces rivals at the name or below it that have
 * no DNS proof or lost it long ago.
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
