import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { type SignInClaims, tokenPurpose } from '@quayside/contract/sign-in.ts'
import { issuerPath } from './issuer.ts'

/** Where routers send people who want to enter an application. */
export const applicationsPath = `${issuerPath}applications`
/** The beginning of an Ed25519 private key in the form that Node.js reads (RFC 8410). */
const keyHeader = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Returns the key that signs tokens for applications. It follows from the pepper, so all servers of
 * an installation have the same.
 */
function keyOf(pepper: Buffer): KeyObject {
  const seed = createHmac('sha256', pepper).update('tokens for applications').digest()
  return createPrivateKey({ key: Buffer.concat([keyHeader, seed]), format: 'der', type: 'pkcs8' })
}

/** Returns how routers send people to the platform, and the public key of its tokens. */
export function applicationIssuer(
  pepper: Buffer,
  { publicUrl }: { readonly publicUrl: string },
): { readonly page: string; readonly key: string } {
  const der = createPublicKey(keyOf(pepper)).export({ format: 'der', type: 'spki' })
  return { page: `${publicUrl}${applicationsPath}`, key: der.subarray(-32).toString('base64url') }
}

/** Creates what signs tokens. Nothing but a router accepts them, and at one host of one service. */
export function createTokenSigner(pepper: Buffer): (claims: SignInClaims) => string {
  const key = keyOf(pepper)
  return (claims) => {
    const content = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return `${content}.${sign(null, Buffer.from(tokenPurpose + content), key).toString('base64url')}`
  }
}
