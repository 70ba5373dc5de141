import type { IncomingMessage } from 'node:http'
import { clientGroup, forwardedChain, networkList } from '@quayside/contract/forwarded.ts'
import type { Credential } from '../access/index.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** Rate limits by credential or by address. */
export interface Budgets {
  take(credential: Credential | undefined, request: IncomingMessage): Verdict
  /** Returns the client address of a request. Trusted proxies are skipped. */
  addressOf(request: IncomingMessage): string
  /** Marks a credential as valid. It has its own budget from now on. */
  confirm(credential: Credential | undefined): void
  /**
   * Returns the owner of a limit: the credential if it was confirmed before, otherwise the address.
   */
  ownerOf(credential: Credential | undefined, request: IncomingMessage): string
}

const maxKnown = 100_000

/**
 * Creates budgets. A confirmed token has its own; all other requests use the budget of their
 * address. Guessing tokens therefore does not give more budget, and does not block callers with a
 * valid token.
 */
export function createBudgets(limiter: RateLimiter, trustedProxies: readonly string[] = []): Budgets {
  const trusts = networkList(trustedProxies)
  const addressOf = ({ socket, headers }: IncomingMessage): string => {
    const [client = ''] = forwardedChain(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString(), trusts)
    return client
  }
  const known = new Set<string>()
  const ownerOf = (credential: Credential | undefined, request: IncomingMessage): string => {
    // The signature of the JWT is already verified.
    if (credential?.kind === 'jwt') return `${credential.issuer} ${credential.subject}`
    return credential && known.has(credential.keyId) ? credential.keyId : clientGroup(addressOf(request))
  }
  return {
    addressOf,
    ownerOf,
    take: (credential, request) => limiter.take(ownerOf(credential, request)),
    confirm(credential) {
      if (credential?.kind !== 'token' || known.has(credential.keyId)) return
      if (known.size >= maxKnown) known.clear()
      known.add(credential.keyId)
      // The first request counts for the token too.
      limiter.take(credential.keyId)
    },
  }
}
