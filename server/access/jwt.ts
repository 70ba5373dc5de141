import { createHash } from 'node:crypto'
import type { Permission } from '@quayside/contract/operation.ts'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { decodeBase64url } from '../lib/base64url.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { parseStrictJson } from '../lib/strict-json.ts'

/** An OpenID Connect issuer with accepted access tokens. */
export interface Issuer {
  /** Exactly the `iss` claim. */
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: string
  readonly algorithms: readonly string[]
  /** The issuer's members of the first organization, by subject, with their rights. */
  readonly members: Readonly<Record<string, readonly Permission[]>>
  /** Undefined: its tokens are accepted, but its people do not sign in at the platform. */
  readonly signIn?: IssuerSignIn
}

/** The platform as a client of an outside issuer. */
export interface IssuerSignIn {
  /** For the sign-in page. */
  readonly name: string
  readonly clientId: string
  /** The file with the secret of the client. Undefined: the client has none. */
  readonly clientSecretFile?: string
}

/** The issuer of this platform. Its keys are local, and its people have accounts here. */
export interface OwnIssuer {
  readonly issuer: string
  readonly audience: string
  /** The value of `account.issuer` for its people. */
  readonly accounts: string
  readonly publicKeys: () => Promise<JSONWebKeySet>
}

/** The claim by which the platform's issuer names a person of an outside issuer: an Identity. */
export const outsideClaim = 'quayside_person'

export interface Identity {
  readonly issuer: string
  readonly subject: string
  /** When a token of the platform was issued, in seconds. Sessions may have ended since. */
  readonly issuedAt?: number
}

/**
 * Returns issuer and subject of a JWT, or undefined if it is invalid. Rights never come from
 * claims.
 */
export type VerifyJwt = (token: string) => Promise<Identity | undefined>

const maxTokenBytes = 8192
const maxCached = 10_000
/** If the issuer removes a key, earlier verifications with it are no longer valid. */
const cachedMs = 600_000
const keyIdForm = /^[\x21-\x7e]{1,200}$/

/** Requirements on a token of an issuer. */
interface Expectation {
  readonly issuer: string
  readonly accounts: string
  readonly audience: string
  readonly algorithms: readonly string[]
  readonly keys: JWTVerifyGetKey
  readonly type?: string
  /** Outside issuers whose people it signs in. Undefined: none. */
  readonly speaksFor?: ReadonlySet<string>
}

/**
 * Verified tokens are cached by their digest for ten minutes, or until they expire. Keys are
 * fetched at most every 30 s and used for ten minutes while the issuer is unreachable. It rejects
 * algorithms other than the issuer's, encrypted tokens, `crit`, duplicate members, and lifetimes of
 * more than a day.
 */
export function createJwtVerifier(issuers: readonly Issuer[], clock: Clock, own?: OwnIssuer): VerifyJwt {
  const known = new Map(
    [...issuers.map(outside), ...(own ? [ownExpectation(own, issuers)] : [])].map((expected) => [
      expected.issuer,
      expected,
    ]),
  )
  const cache = new Map<string, { identity: Identity; untilMs: number }>()

  return async (token) => {
    if (token.length > maxTokenBytes || token.split('.').length !== 3) return undefined
    const digest = createHash('sha256').update(token).digest('base64')
    const nowMs = clock.now().getTime()
    const cached = cache.get(digest)
    if (cached && cached.untilMs > nowMs) return cached.identity
    cache.delete(digest)
    const verified = await verify(token, known, clock)
    if (!verified) return undefined
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value ?? '')
    cache.set(digest, { ...verified, untilMs: Math.min(verified.untilMs, nowMs + cachedMs) })
    return verified.identity
  }
}

const outside = ({ issuer, audience, algorithms, jwksUrl }: Issuer): Expectation => ({
  issuer,
  accounts: issuer,
  audience,
  algorithms,
  keys: createRemoteJWKSet(new URL(jwksUrl), {
    cooldownDuration: 30_000,
    timeoutDuration: 5_000,
    cacheMaxAge: 600_000,
  }),
})

const ownExpectation = (
  { issuer, audience, accounts, publicKeys }: OwnIssuer,
  issuers: readonly Issuer[],
): Expectation => ({
  issuer,
  accounts,
  audience,
  algorithms: ['RS256'],
  keys: async (header, token) => createLocalJWKSet(await publicKeys())(header, token),
  type: 'at+jwt',
  speaksFor: new Set(issuers.filter(({ signIn }) => signIn !== undefined).map((one) => one.issuer)),
})

/**
 * Pure: returns the person of a verified token. Undefined if its issuer may not sign that person
 * in.
 */
function identityOf({ accounts, speaksFor }: Expectation, subject: string, claim: unknown): Identity | undefined {
  if (speaksFor === undefined || claim === undefined) return { issuer: accounts, subject }
  const { issuer, subject: named } = Object(claim)
  const isKnown = typeof issuer === 'string' && typeof named === 'string' && speaksFor.has(issuer)
  return isKnown ? { issuer, subject: named } : undefined
}

async function verify(
  token: string,
  known: ReadonlyMap<string, Expectation>,
  clock: Clock,
): Promise<{ identity: Identity; untilMs: number } | undefined> {
  try {
    if (!isUnambiguous(token)) return undefined
    const { iss } = decodeJwt(token)
    const expected = typeof iss === 'string' ? known.get(iss) : undefined
    if (!expected) return undefined
    const { payload } = await jwtVerify(token, expected.keys, {
      issuer: expected.issuer,
      audience: expected.audience,
      algorithms: [...expected.algorithms],
      ...(expected.type ? { typ: expected.type } : {}),
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: 30,
      maxTokenAge: '24h',
      currentDate: clock.now(),
    })
    const { exp, iat, sub, nonce } = payload
    // An id token is for its client, not for an API. It has a nonce.
    if (typeof sub !== 'string' || typeof exp !== 'number' || typeof iat !== 'number' || nonce !== undefined)
      return undefined
    if (exp - iat > 24 * 3600) return undefined
    const identity = identityOf(expected, sub, payload[outsideClaim])
    return (
      identity && { identity: expected.type ? { ...identity, issuedAt: iat } : identity, untilMs: (exp + 30) * 1000 }
    )
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError || error instanceof SyntaxError)
      return undefined
    throw error
  }
}

/**
 * Whether every parser reads the token the same way: each part has its only spelling, no member of
 * its JSON appears twice, and a key id is a short string.
 */
function isUnambiguous(token: string): boolean {
  const [header, claims, signature] = token.split('.').map(decodeBase64url)
  if (!header || !claims || !signature) return false
  try {
    const { kid } = Object(parseStrictJson(header))
    parseStrictJson(claims)
    return kid === undefined || (typeof kid === 'string' && keyIdForm.test(kid))
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
