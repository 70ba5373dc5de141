import type { IncomingMessage } from 'node:http'
import { clientGroup, forwardedChain, networkList } from '@quayside/contract/forwarded.ts'
import type { Credential } from '../access/index.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** Whose budget a request is taken from. */
export interface Budgets {
  take(credential: Credential | undefined, request: IncomingMessage): Verdict
  /** The address that a request came from, seen through trusted proxies. */
  addressOf(request: IncomingMessage): string
  /** The credential was found good: from now on it has a budget of its own. */
  confirm(credential: Credential | undefined): void
  /**
   * Whom something limited is counted for: the credential if it was found good before, otherwise
   * the address.
   */
  ownerOf(credential: Credential | undefined, request: IncomingMessage): string
}

const maxKnown = 100_000

/**
 * A token that was good before has a budget of its own. Everything else is taken from that of the
 * address: whoever tries tokens gets no budget for each, and keeps nobody from asking who has shown
 * a good one.
 */
export function createBudgets(limiter: RateLimiter, trustedProxies: readonly string[] = []): Budgets {
  const trusts = networkList(trustedProxies)
  const addressOf = ({ socket, headers }: IncomingMessage): string => {
    const [client = ''] = forwardedChain(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString(), trusts)
    return client
  }
  const known = new Set<string>()
  const ownerOf = (credential: Credential | undefined, request: IncomingMessage): string => {
    // The signature of a JWT was checked before.
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
      // This first request counts for the token too.
      limiter.take(credential.keyId)
    },
  }
}
