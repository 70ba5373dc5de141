import { randomBytes } from 'node:crypto'
import { issuerOf } from './issuer.ts'

/** The client through which people sign in to the page of their account. */
export const accountClient = 'quayside-account'

/** A page of the platform that needs a session. */
interface SignInWish {
  readonly client: string
  readonly redirectUri: string
  readonly state: string
}

/**
 * Returns the address at the issuer. Nobody redeems its code: the session says who signed in. So
 * the challenge of PKCE is random.
 */
export function signInAddress(publicUrl: string, { client, redirectUri, state }: SignInWish): string {
  const question = new URLSearchParams({
    client_id: client,
    response_type: 'code',
    scope: 'openid',
    redirect_uri: redirectUri,
    code_challenge_method: 'S256',
    code_challenge: randomBytes(32).toString('base64url'),
    state,
  })
  return `${issuerOf(publicUrl)}authorize?${question}`
}
