import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { clientGroup, forwardedChain, networkList } from '@quayside/contract/forwarded.ts'
import { doorHeader, type PlatformDoor } from '@quayside/contract/routes.ts'
import type { Credential } from '../access/index.ts'
import type { RateLimiter, Verdict } from './rate-limit.ts'

/** Rate limits by credential or by address. */
export interface Budgets {
  take(credential: Credential | undefined, request: IncomingMessage): Verdict
  /** Returns the client address of a request. Trusted proxies are skipped. */
  addressOf(request: IncomingMessage): string
  /** Marks a credential as valid. From now on it has its own budget, inside its organization's. */
  confirm(credential: Credential | undefined, organizationId: string): void
  /**
   * Returns the owner of a limit: the credential if it was confirmed before, otherwise the address.
   */
  ownerOf(credential: Credential | undefined, request: IncomingMessage): string
}

/** Who names the clients of requests, and further limits. */
export interface BudgetOptions {
  /** Limits all tokens of an organization together. Without it only each token is limited. */
  readonly ofOrganizations?: RateLimiter
  /** A small budget of each token that counts if that of its organization is spent. */
  readonly reserves?: RateLimiter
  /** Addresses and CIDRs of proxies. */
  readonly trustedProxies?: readonly string[]
  /** How the router of the platform shows itself, wherever it connects from. */
  readonly door?: Pick<PlatformDoor, 'secret'> | undefined
}

/** Returns a check whether the router of the platform sent a request. */
function doorCheck(door: BudgetOptions['door']): (headers: IncomingHttpHeaders) => boolean {
  if (!door) return () => false
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const expected = digest(door.secret)
  return ({ [doorHeader]: shown }) => typeof shown === 'string' && timingSafeEqual(digest(shown), expected)
}

const maxKnown = 100_000

/**
 * Creates budgets. A confirmed token has its own; all other requests use the budget of their
 * address. Guessing tokens therefore does not give more budget, and does not block callers with a
 * valid token. The tokens of an organization share a budget, so that many tokens are not many
 * budgets. If it is spent, a token that sends little still passes by its reserve.
 */
export function createBudgets(limiter: RateLimiter, options: BudgetOptions = {}): Budgets {
  const { trustedProxies = [], door, ofOrganizations, reserves } = options
  const trusts = networkList(trustedProxies)
  const isRouter = doorCheck(door)
  const addressOf = ({ socket, headers }: IncomingMessage): string => {
    const said = headers['x-forwarded-for']?.toString() ?? ''
    const comma = said.lastIndexOf(',')
    // The router wrote the last entry, the address of its own peer.
    const [client = ''] = isRouter(headers)
      ? forwardedChain(said.slice(comma + 1).trim(), said.slice(0, Math.max(comma, 0)), trusts)
      : forwardedChain(socket.remoteAddress ?? '', said, trusts)
    return client
  }
  /** The organizations of confirmed tokens, by the tokens' key ids. */
  const known = new Map<string, string>()
  const takeShared = (keyId: string, organizationId: string): Verdict => {
    const own = limiter.take(keyId)
    const reserve = reserves?.take(keyId)
    const shared = own.allowed ? ofOrganizations?.take(organizationId) : undefined
    if (!shared || shared.limit === 0) return own
    const rest = shared.allowed || !reserve?.allowed ? shared : reserve
    return { ...rest, limit: own.limit || shared.limit, remaining: Math.min(own.remaining, rest.remaining) }
  }
  const ownerOf = (credential: Credential | undefined, request: IncomingMessage): string => {
    // The signature of the JWT is already verified.
    if (credential?.kind === 'jwt') return `${credential.issuer} ${credential.subject}`
    return credential && known.has(credential.keyId) ? credential.keyId : clientGroup(addressOf(request))
  }
  return {
    addressOf,
    ownerOf,
    take(credential, request) {
      const organizationId = credential?.kind === 'token' ? known.get(credential.keyId) : undefined
      if (credential?.kind !== 'token' || organizationId === undefined)
        return limiter.take(ownerOf(credential, request))
      return takeShared(credential.keyId, organizationId)
    },
    confirm(credential, organizationId) {
      if (credential?.kind !== 'token' || known.has(credential.keyId)) return
      if (known.size >= maxKnown) known.clear()
      known.set(credential.keyId, organizationId)
      // The first request counts for the token too.
      takeShared(credential.keyId, organizationId)
    },
  }
}
