import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Configuration, Provider } from 'oidc-provider'

/** An OpenID provider of somebody else, at which people sign in by their name alone. */
export interface OutsideIssuer {
  readonly origin: string
  /** The entry for QUAYSIDE_OIDC_ISSUERS, without the file of the secret. */
  readonly entry: {
    readonly issuer: string
    readonly audience: string
    readonly jwksUrl: string
    readonly signIn: { readonly clientId: string; readonly name: string }
  }
  readonly clientSecret: string
  /** The claims of people, by their `sub`. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>
  /** The paths of all requests that it got. */
  readonly paths: readonly string[]
  /** Registers the platform at this public URL. The issuer answers from then on. */
  register(publicUrl: string): void
  close(): Promise<void>
}

const clientId = 'the-platform'

/** Starts a provider on 127.0.0.1. It believes every name. */
export async function startOutsideIssuer(): Promise<OutsideIssuer> {
  const people: OutsideIssuer['people'] = new Map()
  const clientSecret = `SECRET-${'c'.repeat(40)}`
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url?.split('?')[0] ?? '')
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  // A server that listens on a port has an address with a port.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let provider: Provider | undefined
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const settings: Configuration = {
    jwks: { keys: [{ ...key, kid: 'one', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['cookies of a test'] },
    features: { devInteractions: { enabled: false } },
    scopes: ['openid', 'profile', 'email'],
    claims: { openid: ['sub'], profile: ['name', 'given_name'], email: ['email', 'email_verified'] },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
    loadExistingGrant: async ({ oidc: { client, session, provider } }) => {
      const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  }

  /** Answers a page that asks for a name, and all requests to the issuer. */
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!provider) return void response.writeHead(503).end()
    if (!request.url?.startsWith('/interaction/')) return provider.callback()(request, response)
    if (request.method !== 'POST') {
      response.setHeader('content-type', 'text/html')
      return void response.end(`<!doctype html><title>Example</title><h1>Example</h1>
        <form method="post"><label>Name <input name="sub"></label><button>Continue</button></form>`)
    }
    const accountId = new URLSearchParams(await text(request)).get('sub') ?? ''
    await provider.interactionFinished(request, response, { login: { accountId } })
  }

  return {
    origin,
    clientSecret,
    people,
    paths,
    register: (publicUrl) => {
      const client = {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${publicUrl}/oidc/outside`],
      }
      provider = new Provider(origin, { ...settings, clients: [client] })
    },
    entry: {
      issuer: origin,
      audience: 'quayside',
      jwksUrl: `${origin}/jwks`,
      signIn: { clientId, name: 'Example' },
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
