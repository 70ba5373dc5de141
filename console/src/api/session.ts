import * as oauth from 'oauth4webapi'
import { paths } from '../paths.ts'
import { reach } from './reach.ts'
import { announceSignIn, waitForSignIn } from './session-end.ts'

// Signing in by the issuer of the platform: code with PKCE. Tokens are kept in memory only. After a
// reload, the issuer's own session returns new ones without a page.

const client: oauth.Client = { client_id: 'quayside-console' }
const issuer = new URL('/oidc/', location.origin)
const scope = 'openid profile email offline_access'
/** Plain HTTP is usual on a machine of one's own. The origin of the page decides. */
const insecure = { [oauth.allowInsecureRequests]: location.protocol === 'http:', [oauth.customFetch]: reach }
/** A token is renewed this long before it ends. */
const marginMs = 60_000
/** The key under which the address is kept for the time of a sign-in. */
const returnKey = 'quayside.return'

interface Tokens {
  readonly access: string
  readonly refresh: string | undefined
  readonly endsAt: number
}

let server: Promise<oauth.AuthorizationServer> | undefined
let tokens: Tokens | undefined
let renewal: Promise<string> | undefined
/** Whether this page has had a token. */
let wasSignedIn = false

/** Returns a valid token. Goes to the page of the issuer if nobody is signed in. */
export async function accessToken(): Promise<string> {
  if (tokens && tokens.endsAt > Date.now() + marginMs) return tokens.access
  renewal ??= renew().finally(() => {
    renewal = undefined
  })
  return renewal
}

/** Forgets the token, which the server refused. */
export function dropToken(): void {
  tokens = undefined
}

async function renew(): Promise<string> {
  const refresh = tokens?.refresh
  tokens = (refresh && (await refreshed(refresh))) || (await silently())
  if (!tokens) return wasSignedIn ? again() : signIn()
  if (!wasSignedIn) announceSignIn()
  wasSignedIn = true
  return tokens.access
}

/** Waits until the person has signed in again elsewhere, so that this page keeps its inputs. */
async function again(): Promise<string> {
  tokens = await waitForSignIn(silently)
  return tokens.access
}

const discover = (): Promise<oauth.AuthorizationServer> => {
  server ??= oauth
    .discoveryRequest(issuer, insecure)
    .then((answer) => oauth.processDiscoveryResponse(issuer, answer))
    .catch((error: unknown) => {
      server = undefined
      throw error
    })
  return server
}

async function refreshed(token: string): Promise<Tokens | undefined> {
  const as = await discover()
  const answer = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), token, insecure)
  const result = await oauth.processRefreshTokenResponse(as, client, answer).catch(refusedOnly)
  return result && tokensOf(result)
}

/** A refused token is an answer. Everything else is a failure. */
function refusedOnly(error: unknown): undefined {
  if (!(error instanceof oauth.ResponseBodyError)) throw error
}

/** Asks the issuer without a page. Returns undefined if nobody is signed in there. */
async function silently(): Promise<Tokens | undefined> {
  const as = await discover()
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const asked = await authorizationUrl(as, { verifier, state, prompt: 'none' })
  const { url } = await reach(asked, { credentials: 'same-origin' })
  const returned = new URL(url)
  if (returned.searchParams.has('error')) return undefined
  const parameters = oauth.validateAuthResponse(as, client, returned, state)
  const answer = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    verifier,
    insecure,
  )
  return tokensOf(await oauth.processAuthorizationCodeResponse(as, client, answer))
}

const redirectUri = (): string => new URL(paths.signedIn, location.origin).href

async function authorizationUrl(
  as: oauth.AuthorizationServer,
  { verifier, state, prompt }: { readonly verifier: string; readonly state: string; readonly prompt?: string },
): Promise<URL> {
  const url = new URL(as.authorization_endpoint ?? '')
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(prompt && { prompt }),
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url
}

const tokensOf = ({ access_token, refresh_token, expires_in = 300 }: oauth.TokenEndpointResponse): Tokens => ({
  access: access_token,
  refresh: refresh_token,
  endsAt: Date.now() + expires_in * 1000,
})

/** Leaves for the sign-in page. The person comes back to the address of now. */
async function signIn(): Promise<never> {
  const state = oauth.generateRandomState()
  sessionStorage.setItem(returnKey, JSON.stringify({ state, to: `${location.pathname}${location.search}` }))
  const verifier = oauth.generateRandomCodeVerifier()
  location.assign(await authorizationUrl(await discover(), { verifier, state }))
  return new Promise<never>(() => {})
}

/**
 * Returns the address from which somebody went to sign in. The code of that sign-in is not used:
 * the issuer's session, which it began, returns tokens without a page.
 */
export function returnAddress(parameters: URLSearchParams): string {
  const kept: unknown = JSON.parse(sessionStorage.getItem(returnKey) ?? 'null')
  sessionStorage.removeItem(returnKey)
  const { state, to } = Object(kept)
  const isOurs = typeof state === 'string' && state === parameters.get('state') && typeof to === 'string'
  // Browsers read "/\host" and "/<tab>/host" as another host, too.
  const url = new URL(isOurs ? to : paths.home, location.origin)
  return url.origin === location.origin ? `${url.pathname}${url.search}` : paths.home
}

/** Ends the session of the issuer, too. */
export async function signOut(): Promise<void> {
  tokens = undefined
  const { end_session_endpoint = '/' } = await discover()
  const url = new URL(end_session_endpoint)
  url.searchParams.set('client_id', client.client_id)
  location.assign(url)
}
