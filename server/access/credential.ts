import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Identity, VerifyJwt } from './jwt.ts'
import { hashSecret, parseToken } from './token.ts'

/** The credential of a request, checked as far as possible without the database. */
export type Credential =
  | { readonly kind: 'token'; readonly keyId: string; readonly hash: Buffer }
  | ({ readonly kind: 'jwt' } & Identity)

export type ReadCredential = (authorization: string | undefined) => Promise<Credential | undefined>

const schemes = /^(?:bearer|token) ([\x21-\x7e]+)$/i

/**
 * A cache, because clients send the same token repeatedly and hashing it costs more than the rest
 * of the check.
 */
const maxRemembered = 1000

/** `Bearer` and `Token` mean the same. The form of the value selects the only verifier. */
export function credentialReader(options: { readonly pepper: Buffer; readonly verifyJwt: VerifyJwt }): ReadCredential {
  const pepper = createSecretKey(options.pepper)
  const remembered = new Map<string, Credential>()
  return async (authorization = '') => {
    const known = remembered.get(authorization)
    if (known) return known
    const presented = schemes.exec(authorization)?.[1]
    if (presented === undefined) return undefined
    if (presented.startsWith('quay_')) {
      const credential = readToken(presented, pepper)
      if (remembered.size >= maxRemembered) remembered.clear()
      if (credential) remembered.set(authorization, credential)
      return credential
    }
    const identity = await options.verifyJwt(presented)
    return identity && { kind: 'jwt', ...identity }
  }
}

/** Returns the credential of an API token, or undefined if its form or checksum is wrong. */
export function readToken(text: string, pepper: Buffer | KeyObject): Credential | undefined {
  const parsed = parseToken(text)
  return parsed && { kind: 'token', keyId: parsed.keyId, hash: hashSecret(pepper, parsed.secret) }
}
