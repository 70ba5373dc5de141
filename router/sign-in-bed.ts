import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type SignInClaims, signInPath, tokenPurpose } from '@quayside/contract/sign-in.ts'

// Tokens as the server signs them, for tests of the router.

export const service = '01900000-0000-7000-8000-00000000000a'
export const account = '01900000-0000-7000-8000-0000000000ad'
export const page = 'http://quayside.localhost/oidc/applications'
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
export const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64url')
export const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
export const secret = 's'.repeat(43)
export const names = { start: `quayside-start-${service.slice(-12)}`, access: `quayside-access-${service.slice(-12)}` }

/** Returns a token that is valid now. */
export function tokenOf(change: Partial<SignInClaims> = {}, signer: KeyObject = privateKey): string {
  const claims: SignInClaims = {
    service,
    host: 'app.localhost',
    account,
    email: 'ada@example.org',
    role: 'DevOps',
    challenge: digest(secret),
    path: digest('/report?of=may'),
    issuedAtMs: Date.now(),
    ...change,
  }
  const content = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${content}.${sign(null, Buffer.from(tokenPurpose + content), signer).toString('base64url')}`
}
/** Returns the cookie of a session. */
export const access = (change?: Partial<SignInClaims>): string => `${names.access}=${secret}.${tokenOf(change)}`
/** Returns the address to which the server sends a browser. */
export const returnTo = (token: string, path = '/report?of=may'): string =>
  `${signInPath}?${new URLSearchParams({ token, path })}`

/** The rule of a route that members with a role may use. */
export const guard = { signIn: { page, key, organization: 'o', roles: ['ADMIN', 'VIEWER'] } }
/** Returns lists with these people. */
export const listed = (people: Readonly<Record<string, number>> = { [account]: 0 }) => ({
  'o/VIEWER': people,
  'o/BILLING_MANAGER': { biller: 0 },
})
