import { readFile } from 'node:fs/promises'
import * as oauth from 'oauth4webapi'
import type { Issuer, IssuerSignIn } from '../access/index.ts'
import { outsidePath } from './issuer.ts'
import { type OutsidePerson, personOf } from './outside-person.ts'
import { createOutsideVisits, type OutsideAttempt, type OutsideVisit } from './outside-state.ts'

/** An issuer at which people sign in, beside the platform's own. */
type SignInIssuer = Issuer & { readonly signIn: IssuerSignIn }

/** The answer of an issuer, sent back through a browser, with the state of the sign-in. */
export interface OutsideAnswer {
  readonly state: string
  readonly issuer: string
  /**
   * Throws if the issuer refused the person or did not send the answer. `redeem` asks the issuer
   * who the person is.
   */
  check(): Promise<{ redeem(): Promise<OutsidePerson> }>
}

export interface OutsideIssuersOptions {
  readonly issuers: readonly Issuer[]
  readonly publicUrl: string
  readonly pepper: Buffer
}
export type OutsideIssuers = ReturnType<typeof createOutsideIssuers>

const requestMs = 10_000
const knownMs = 600_000
/** How long a failed question about an issuer is its answer. */
const awayMs = 3_000
const scope = 'openid profile email'

/**
 * Signs people in at the issuers of the settings: code with PKCE. Everything that must come back is
 * computed from the interaction, whose cookie binds it to a browser. So nothing is stored before
 * the browser is back, and any server may answer.
 */
export function createOutsideIssuers({ issuers, publicUrl, pepper }: OutsideIssuersOptions) {
  const offered = issuers.filter((issuer): issuer is SignInIssuer => issuer.signIn !== undefined)
  const known = new Map<string, { readonly server: Promise<oauth.AuthorizationServer>; readonly untilMs: number }>()
  const redirectUri = `${publicUrl}${outsidePath}`

  const visits = createOutsideVisits(pepper)

  function serverOf(issuer: SignInIssuer): Promise<oauth.AuthorizationServer> {
    const remembered = known.get(issuer.issuer)
    if (remembered && performance.now() < remembered.untilMs) return remembered.server
    const server = discover(issuer)
    const remember = (ms: number): void => void known.set(issuer.issuer, { server, untilMs: performance.now() + ms })
    remember(knownMs)
    // The sign-ins of many people ask an issuer that is away once in a while.
    server.catch(() => remember(awayMs))
    return server
  }

  return {
    /** The names of the issuers, as the sign-in page shows them. */
    names: offered.map(({ signIn }) => signIn.name),
    /** Their `iss` claims. */
    trusted: new Set(offered.map(({ issuer }) => issuer)),

    /** Returns the address at which the person signs in. Throws if the issuer does not answer. */
    async begin(attempt: OutsideAttempt): Promise<string> {
      const issuer = at(attempt)
      const { state, nonce, verifier } = visits.begin(attempt, issuer.issuer)
      const url = new URL((await serverOf(issuer)).authorization_endpoint ?? '')
      const parameters = {
        client_id: issuer.signIn.clientId,
        response_type: 'code',
        scope,
        redirect_uri: redirectUri,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return url.href
    },

    /**
     * Reads the answer with which a browser came back, and asks nobody. Throws if its state is not
     * one of this sign-in.
     */
    read(attempt: OutsideAttempt, returned: URLSearchParams): OutsideAnswer {
      const issuer = at(attempt)
      const visit = visits.find(attempt, issuer.issuer, returned.get('state') ?? '')
      if (!visit) throw new Error('the state is not the one of the sign-in')
      return { state: visit.state, issuer: issuer.issuer, check: () => check(issuer, visit, returned) }
    },
  }

  async function check(issuer: SignInIssuer, visit: OutsideVisit, returned: URLSearchParams) {
    const server = await serverOf(issuer)
    const parameters = oauth.validateAuthResponse(server, clientOf(issuer).client, returned, visit.state)
    return { redeem: () => redeem(visit, { issuer, server, parameters }) }
  }

  async function redeem(
    { verifier, nonce }: OutsideVisit,
    {
      issuer,
      server,
      parameters,
    }: Readonly<{
      issuer: SignInIssuer
      server: oauth.AuthorizationServer
      parameters: URLSearchParams
    }>,
  ): Promise<OutsidePerson> {
    const { client, options } = clientOf(issuer)
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      await authenticationOf(issuer.signIn),
      parameters,
      redirectUri,
      verifier,
      options,
    )
    const expected = { expectedNonce: nonce, requireIdToken: true }
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, expected)
    await oauth.validateApplicationLevelSignature(server, answer, options)
    return personOf(issuer.issuer, await claimsOf(server, issuer, tokens))
  }

  function at({ index }: OutsideAttempt): SignInIssuer {
    const issuer = offered[index]
    if (!issuer) throw new Error(`there is no issuer at ${index}`)
    return issuer
  }
}

const clientOf = ({ issuer, signIn }: SignInIssuer) => ({
  client: { client_id: signIn.clientId },
  options: {
    signal: () => AbortSignal.timeout(requestMs),
    // The settings allow plain HTTP on this machine alone.
    [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  },
})

/** Reads the metadata. Keys and algorithms are those of the settings, as for access tokens. */
async function discover(issuer: SignInIssuer): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer.issuer)
  const answer = await oauth.discoveryRequest(url, clientOf(issuer).options)
  const found = await oauth.processDiscoveryResponse(url, answer)
  return {
    ...found,
    issuer: issuer.issuer,
    jwks_uri: issuer.jwksUrl,
    id_token_signing_alg_values_supported: [...issuer.algorithms],
  }
}

async function authenticationOf({ clientSecretFile }: IssuerSignIn): Promise<oauth.ClientAuth> {
  if (clientSecretFile === undefined) return oauth.None()
  return oauth.ClientSecretBasic((await readFile(clientSecretFile, 'utf8')).trim())
}

/** Returns the claims of the id token. If they have no address, the others are added. */
async function claimsOf(
  server: oauth.AuthorizationServer,
  issuer: SignInIssuer,
  tokens: oauth.TokenEndpointResponse,
): Promise<oauth.IDToken> {
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  if (!claims) throw new Error('the issuer sent no id token')
  if (claims['email'] !== undefined || server.userinfo_endpoint === undefined) return claims
  const { client, options } = clientOf(issuer)
  const answer = await oauth.userInfoRequest(server, client, tokens.access_token, options)
  return { ...(await oauth.processUserInfoResponse(server, client, claims.sub, answer)), ...claims }
}
