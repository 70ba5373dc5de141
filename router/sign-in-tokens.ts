import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import {
  longestToken,
  readClaims,
  type SignInClaims,
  type SignInRule,
  tokenPurpose,
} from '@quayside/contract/sign-in.ts'
import { limits } from './limits.ts'
import { OwnedMap } from './owned-map.ts'

const tokenForm = /^([\w-]+)\.([\w-]{86})$/
/** The beginning of an Ed25519 public key in the form that Node.js reads (RFC 8410). */
const keyHeader = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * Checks the tokens of signed-in people. A valid token is remembered, because the signature costs
 * more than all other checks together.
 */
export class SignInTokens {
  readonly #keys = new Map<string, KeyObject>()
  readonly #known = new OwnedMap<SignInClaims>(limits.knownTokens)

  /**
   * Returns the content of a token that was signed with the key of a rule. Undefined if it was not.
   */
  check(token: string, { key, organization }: Pick<SignInRule, 'key' | 'organization'>): SignInClaims | undefined {
    const name = `${key} ${token}`
    const known = this.#known.get(organization, name)
    if (known) return known
    const match = token.length > longestToken ? null : tokenForm.exec(token)
    const [, content = '', signature = ''] = match ?? []
    if (!match || !this.#isSigned(content, signature, key)) return undefined
    const claims = claimsIn(content)
    if (!claims) return undefined
    this.#known.set(organization, name, claims)
    return claims
  }

  #isSigned(content: string, signature: string, key: string): boolean {
    const signed = Buffer.from(tokenPurpose + content)
    return verify(null, signed, this.#keyOf(key), Buffer.from(signature, 'base64url'))
  }

  #keyOf(key: string): KeyObject {
    const known = this.#keys.get(key)
    if (known) return known
    const der = Buffer.concat([keyHeader, Buffer.from(key, 'base64url')])
    const made = createPublicKey({ key: der, format: 'der', type: 'spki' })
    this.#keys.clear()
    this.#keys.set(key, made)
    return made
  }
}

/** Returns the content of a token, without a check of its signature. */
function claimsIn(content: string): SignInClaims | undefined {
  try {
    return readClaims(JSON.parse(Buffer.from(content, 'base64url').toString('utf8')))
  } catch {
    // Nobody signs a token that is no JSON.
    return undefined
  }
}

/** Returns the service that a token names, whether or not its signature is valid. */
export const serviceOf = (token: string): string | undefined =>
  token.length > longestToken ? undefined : claimsIn(token.split('.', 1)[0] ?? '')?.service
