import { createHmac } from 'node:crypto'
import { type Configuration, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { type AccountRow, outsideClaim } from '../access/index.ts'
import type { Logger } from '../lib/log.ts'
import { interactionSeconds, issuerOf, ownAccounts, signInPath } from './issuer.ts'
import type { IssuerCookies } from './issuer-cookies.ts'
import type { IssuerKey } from './issuer-keys.ts'
import {
  deviceCodePage,
  deviceConfirmPage,
  messagePage,
  type Page,
  pagePolicy,
  signOutPage,
  writePage,
} from './pages.ts'
import type { createRecordAdapter } from './record-adapter.ts'

export interface ProviderOptions {
  readonly publicUrl: string
  readonly pepper: Buffer
  readonly log: Logger
  readonly keys: readonly [IssuerKey, ...IssuerKey[]]
  readonly cookies: IssuerCookies
  readonly adapter: (agent: () => string | undefined) => ReturnType<typeof createRecordAdapter>
  /** Finds an account whose sign-in still counts. */
  readonly findAccount: (id: string) => Promise<AccountRow | undefined>
}

const hour = 3600
const day = 24 * hour
const fortnight = 14 * day
const scopes = 'openid profile email offline_access'

/**
 * The OpenID Connect issuer: code with PKCE for programs in a browser, device codes for programs
 * without one, and refresh tokens that are valid once. All clients are our own, so people are not
 * asked for consent. An access token contains no rights: they are looked up.
 */
export function createProvider(options: ProviderOptions): Provider {
  const provider = new Provider(issuerOf(options.publicUrl), configuration(options))
  // Scheme and host are those of the public URL, whatever proxy forwards the request: see
  // handler.ts.
  provider.proxy = true
  provider.use(async (ctx, next) => {
    await next()
    options.cookies.withhold(ctx)
  })
  provider.on('server_error', (_ctx, error) => options.log.error({ err: error }, 'the issuer failed'))
  return provider
}

function configuration(options: ProviderOptions): Configuration {
  const { publicUrl, pepper, keys, adapter, cookies } = options
  return {
    adapter: adapter(() => Provider.ctx?.req.headers['user-agent']),
    jwks: { keys: keys.map((key) => ({ ...key })) },
    cookies: {
      keys: [createHmac('sha256', pepper).update('cookies of the issuer').digest('base64url')],
      names: cookies.names,
      // issuer-cookies.ts writes what the library reads from them.
      short: { httpOnly: true, sameSite: 'lax', signed: false },
      long: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    // Clients of Auth0 send it.
    routes: {
      authorization: '/authorize',
      token: '/oauth/token',
      jwks: '/.well-known/jwks.json',
      device_authorization: '/oauth/device/code',
      code_verification: '/device',
      revocation: '/oauth/revoke',
      end_session: '/v2/logout',
      userinfo: '/userinfo',
    },
    features: features(publicUrl),
    scopes: scopes.split(' '),
    claims: {
      openid: ['sub'],
      profile: ['name', 'nickname', 'given_name', 'family_name', 'updated_at', 'https://qovery.com/roles'],
      email: ['email', 'email_verified'],
    },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    ttl: {
      AccessToken: hour,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: fortnight,
      IdToken: hour,
      Interaction: interactionSeconds,
      RefreshToken: fortnight,
      // The session of a person who has not signed in is only a cookie.
      Session: (_ctx, session) => (session.accountId ? fortnight : hour),
    },
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // A command line stays signed in when the browser signs out.
    expiresWithSession: async (ctx) => ctx.oidc.client?.applicationType !== 'native',
    clientBasedCORS: (_ctx, origin, client) =>
      (client.redirectUris ?? []).some((uri) => URL.parse(uri)?.origin === origin),
    interactions: {
      policy: promptPolicy(),
      url: (ctx, { uid }) => {
        cookies.bind(ctx, uid)
        return `${signInPath}${uid}`
      },
    },
    loadExistingGrant: (ctx) => grantEverything(ctx, publicUrl),
    findAccount: async (_ctx, id) => {
      const account = await options.findAccount(id)
      return account && { accountId: id, claims: async () => claimsOf(account) }
    },
    extraTokenClaims: async (_ctx, token) => {
      const id = 'accountId' in token ? token.accountId : undefined
      return id === undefined ? undefined : outsidePerson(await options.findAccount(id))
    },
    renderError: (ctx, out) => {
      const reason = out.error_description ?? out.error
      show(ctx, messagePage('That did not work', `${reason}. Begin again from where you came.`))
    },
  }
}

/** A session asks for a sign-in if that of its person no longer counts. */
function promptPolicy() {
  const policy = interactionPolicy.base()
  const isOver = ({ oidc }: KoaContextWithOIDC) => oidc.session?.accountId !== undefined && !oidc.account
  const message = 'End-User authentication is required'
  policy.get('login')?.checks.add(new interactionPolicy.Check('over', message, 'login_required', isOver))
  return policy
}

/** The API knows a person of an outside issuer by the name there. */
const outsidePerson = (account: AccountRow | undefined) =>
  account === undefined || account.issuer === ownAccounts
    ? undefined
    : { [outsideClaim]: { issuer: account.issuer, subject: account.subject } }

const features = (publicUrl: string): Configuration['features'] => ({
  devInteractions: { enabled: false },
  revocation: { enabled: true },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: (ctx, form) => show(ctx, signOutPage(form)),
    postLogoutSuccessSource: (ctx) => show(ctx, messagePage('Signed out', 'You can close this page.')),
  },
  deviceFlow: {
    enabled: true,
    charset: 'base-20',
    mask: '****-****',
    userCodeInputSource: (ctx, form, _out, error) => {
      if (error && isUnsaved(ctx)) return show(ctx, messagePage('That did not work', noFormText(publicUrl)))
      show(ctx, deviceCodePage(form, error && 'The code is wrong or has expired.'))
    },
    userCodeConfirmSource: (ctx, form, client, _device, code) =>
      show(ctx, deviceConfirmPage(form, client.clientName ?? client.clientId, code)),
    successSource: (ctx) => show(ctx, messagePage('Signed in', 'You can close this page and go back to the device.')),
  },
  // Every access token is for the API, whatever a client requests.
  resourceIndicators: {
    enabled: true,
    defaultResource: () => publicUrl,
    useGrantedResource: () => true,
    getResourceServerInfo: () => ({
      scope: '',
      audience: publicUrl,
      accessTokenTTL: hour,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: 'RS256' } },
    }),
  },
})

const noFormText = (publicUrl: string): string =>
  `The form was not sent from the page that shows it, or the page is too old. Open ${issuerOf(publicUrl)}device again.`

/**
 * Whether a request has no session for a form. The library adds a new form to the session after
 * saving it, and cannot save a session that it never saved before. Such a session is lost, and the
 * page has no form.
 */
function isUnsaved({ oidc: { session } }: KoaContextWithOIDC): boolean {
  if (!session || typeof session.exp === 'number') return false
  Object.assign(session, { touched: false })
  return true
}

async function grantEverything(ctx: KoaContextWithOIDC, publicUrl: string) {
  const { client, session, provider, result } = ctx.oidc
  if (!client || !session?.accountId) return undefined
  const { Grant } = provider
  const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId)
  const found = known ? await Grant.find(known) : undefined
  const grant = found ?? new Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope(scopes)
  grant.addResourceScope(publicUrl, '')
  await grant.save()
  return grant
}

const claimsOf = (account: AccountRow) => ({
  sub: account.id,
  name: account.name,
  nickname: account.name,
  given_name: account.first_name,
  family_name: account.last_name,
  updated_at: Math.floor(account.updated_at.getTime() / 1000),
  email: account.email ?? account.outside_email ?? undefined,
  // No mail is sent: the address is the one that an administrator invited, not proof of a mailbox.
  email_verified: false,
  // Rights are never in a token.
  'https://qovery.com/roles': [],
})

function show(ctx: KoaContextWithOIDC, page: Page): void {
  const redirect = ctx.oidc.client?.redirectUris?.flatMap((uri) => URL.parse(uri)?.origin ?? []) ?? []
  ctx.type = 'html'
  ctx.set('content-security-policy', pagePolicy(redirect))
  ctx.body = writePage(page)
}
