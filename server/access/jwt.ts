import type { Permission } from '@quayside/contract/operation.ts'
import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Clock } from '../lib/clock.ts'

/** An OpenID Connect issuer whose access tokens are accepted. */
export interface Issuer {
  /** Exactly as in the `iss` claim. */
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: string
  readonly algorithms: readonly string[]
  /** Who of this issuer is a member of the first organization, by subject, and what they may. */
  readonly members: Readonly<Record<string, readonly Permission[]>>
}

export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** Gives who a JWT speaks of, or undefined when it is not valid. Rights never come from claims. */
export type VerifyJwt = (token: string) => Promise<Identity | undefined>

const maxTokenBytes = 8192
const maxCached = 10_000

/**
 * Verified tokens are remembered until they expire. Keys are fetched at most every 30 s and used for ten minutes while the
 * issuer is away. Refused: other algorithms than the issuer's, encrypted tokens, `crit`, more than a day of life.
 */
export function createJwtVerifier(issuers: readonly Issuer[], clock: Clock): VerifyJwt {
  const known = new Map<string, { issuer: Issuer; keys: JWTVerifyGetKey }>(
    issuers.map((issuer) => [
      issuer.issuer,
      {
        issuer,
        keys: createRemoteJWKSet(new URL(issuer.jwksUrl), {
          cooldownDuration: 30_000,
          timeoutDuration: 5_000,
          cacheMaxAge: 600_000,
        }),
      },
    ]),
  )
  const cache = new Map<string, { identity: Identity; untilMs: number }>()

  return async (token) => {
    if (token.length > maxTokenBytes || token.split('.').length !== 3) return undefined
    const nowMs = clock.now().getTime()
    const cached = cache.get(token)
    if (cached && cached.untilMs > nowMs) return cached.identity
    cache.delete(token)
    const verified = await verify(token, known, clock)
    if (!verified) return undefined
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value ?? '')
    cache.set(token, verified)
    return verified.identity
  }
}

async function verify(
  token: string,
  known: ReadonlyMap<string, { issuer: Issuer; keys: JWTVerifyGetKey }>,
  clock: Clock,
): Promise<{ identity: Identity; untilMs: number } | undefined> {
  try {
    const { iss } = decodeJwt(token)
    const entry = typeof iss === 'string' ? known.get(iss) : undefined
    if (!entry) return undefined
    const { payload } = await jwtVerify(token, entry.keys, {
      issuer: entry.issuer.issuer,
      audience: entry.issuer.audience,
      algorithms: [...entry.issuer.algorithms],
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: 30,
      maxTokenAge: '24h',
      currentDate: clock.now(),
    })
    const { exp, iat, sub, nonce } = payload
    // An id token is for its client, not for an API: it carries a nonce.
    if (typeof sub !== 'string' || typeof exp !== 'number' || typeof iat !== 'number' || nonce !== undefined)
      return undefined
    if (exp - iat > 24 * 3600) return undefined
    return { identity: { issuer: entry.issuer.issuer, subject: sub }, untilMs: (exp + 30) * 1000 }
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      return undefined
    throw error
  }
}
