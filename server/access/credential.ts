import { createSecretKey, type KeyObject } from 'node:crypto'
import type { VerifyJwt } from './jwt.ts'
import { hashSecret, parseToken } from './token.ts'

/** What a request presents, checked as far as it can be without the database. */
export type Credential =
  | { readonly kind: 'token'; readonly keyId: string; readonly hash: Buffer }
  | { readonly kind: 'jwt'; readonly issuer: string; readonly subject: string }

export type ReadCredential = (authorization: string | undefined) => Promise<Credential | undefined>

const schemes = /^(?:bearer|token) ([\x21-\x7e]+)$/i

/** Clients send the same token again and again: hashing it costs more than all other work on it. */
const maxRemembered = 1000

/** `Bearer` and `Token` are the same: the form of what follows selects the one verifier. */
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

/** The credential of an API token's text, or undefined when its form or checksum is wrong. */
export function readToken(text: string, pepper: Buffer | KeyObject): Credential | undefined {
  const parsed = parseToken(text)
  return parsed && { kind: 'token', keyId: parsed.keyId, hash: hashSecret(pepper, parsed.secret) }
}
