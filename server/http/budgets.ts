import type { Credential } from '../access/index.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** Whose budget a request is taken from. */
export interface Budgets {
  take(credential: Credential | undefined, address: string): Verdict
  /** The credential was found good: from now on it has a budget of its own. */
  confirm(credential: Credential | undefined): void
}

const maxKnown = 100_000

/**
 * A token that was good before has a budget of its own. Everything else is taken from that of the address: whoever tries
 * tokens gets no budget for each, and keeps nobody from asking who has shown a good one.
 */
export function createBudgets(limiter: RateLimiter): Budgets {
  const known = new Set<string>()
  return {
    take(credential, address) {
      // The signature of a JWT was checked before.
      if (credential?.kind === 'jwt') return limiter.take(`${credential.issuer} ${credential.subject}`)
      return limiter.take(credential && known.has(credential.keyId) ? credential.keyId : address)
    },
    confirm(credential) {
      if (credential?.kind !== 'token' || known.has(credential.keyId)) return
      if (known.size >= maxKnown) known.clear()
      known.add(credential.keyId)
      // This first request counts for the token too.
      limiter.take(credential.keyId)
    },
  }
}
