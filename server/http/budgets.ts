import type { Credential } from '../access/index.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** Whose budget a request is taken from. */
export interface Budgets {
  take(credential: Credential | undefined, address: string): Verdict
  /** The credential was found good: from now on it has a budget of its own. */
  confirm(credential: Credential | undefined): void
  /** Whom something limited is counted for: the credential if it was found good before, otherwise the address. */
  ownerOf(credential: Credential | undefined, address: string): string
}

const maxKnown = 100_000

/**
 * A token that was good before has a budget of its own. Everything else is taken from that of the address: whoever tries
 * tokens gets no budget for each, and keeps nobody from asking who has shown a good one.
 */
export function createBudgets(limiter: RateLimiter): Budgets {
  const known = new Set<string>()
  const ownerOf = (credential: Credential | undefined, address: string): string => {
    // The signature of a JWT was checked before.
    if (credential?.kind === 'jwt') return `${credential.issuer} ${credential.subject}`
    return credential && known.has(credential.keyId) ? credential.keyId : address
  }
  return {
    ownerOf,
    take: (credential, address) => limiter.take(ownerOf(credential, address)),
    confirm(credential) {
      if (credential?.kind !== 'token' || known.has(credential.keyId)) return
      if (known.size >= maxKnown) known.clear()
      known.add(credential.keyId)
      // This first request counts for the token too.
      limiter.take(credential.keyId)
    },
  }
}
