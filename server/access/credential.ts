import { createSecretKey, type KeyObject } from 'node:crypto'
import type { VerifyJwt } from './jwt.ts'
import { hashSecret, parseToken } from './token.ts'

/** What a request presents, checked as far as it can be without the database. */
export type Credential =
  | { readonly kind: 'token'; readonly keyId: string; readonly hash: Buffer }
  | { readonly kind: 'jwt'; readonly issuer: string; readonly subject: string }

export type ReadCredential = (authorization: string | undefined) => Promise<Credential | undefined>

const schemes = /^(?:bearer|token) ([\x21-\x7e]+)$/i

/** `Bearer` and `Token` are the same: the form of what follows selects the one verifier. */
export function credentialReader(options: { readonly pepper: Buffer; readonly verifyJwt: VerifyJwt }): ReadCredential {
  const pepper = createSecretKey(options.pepper)
  return async (authorization) => {
    const presented = schemes.exec(authorization ?? '')?.[1]
    if (presented === undefined) return undefined
    if (presented.startsWith('quay_')) return readToken(presented, pepper)
    const identity = await options.verifyJwt(presented)
    return identity && { kind: 'jwt', ...identity }
  }
}

/** The credential of an API token's text, or undefined when its form or checksum is wrong. */
export function readToken(text: string, pepper: Buffer | KeyObject): Credential | undefined {
  const parsed = parseToken(text)
  return parsed && { kind: 'token', keyId: parsed.keyId, hash: hashSecret(pepper, parsed.secret) }
}
