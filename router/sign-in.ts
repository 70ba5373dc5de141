import { admittedSince, isReturnPath, type SignInClaims, type SignInRule } from '@quayside/contract/sign-in.ts'
import type { ClientRequest } from './client-message.ts'
import { hostOf } from './host-of.ts'
import { isIdentityName } from './identity-headers.ts'
import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import { allowedOrigin, type Rules } from './rules.ts'
import { httpsAddress } from './secure.ts'
import { cookieValues, digestOf, secretOf, setCookie } from './sign-in-cookies.ts'
import type { Traffic } from './traffic.ts'
import { isListed, isOver } from './visits.ts'

/** A request, with the rules and names of its route. */
interface Ruled {
  readonly rules: Rules
  readonly name: string
  readonly service: string
  readonly head: RequestHead
}

/**
 * Returns why a request does not enter an application behind the platform's sign-in. Undefined if
 * it does, or if the route has no such rule. The application then learns who it is.
 */
export function signInFailure(traffic: Traffic, request: ClientRequest, ruled: Ruled): Failure | undefined {
  const { rules, name, service, head } = ruled
  const { signIn } = rules.given
  if (!signIn) return undefined
  const host = hostOf(head.host ?? '') ?? ''
  const isExposed = !head.isSecure && httpsAddress(traffic, host, '/') !== undefined
  const claims = isExposed
    ? undefined
    : sessionOf(traffic, request, { rule: signIn, service, host, isSecure: head.isSecure })
  const sinceMs = claims && admittedSince(traffic.routes.people, signIn, claims.account)
  if (!claims || isOver(claims, sinceMs)) {
    return isNavigation(request) ? beginning(traffic, request, { rule: signIn, ruled, host }) : unsigned(name)
  }
  if (!isListed(claims, sinceMs)) return unwelcome(claims, ruled)
  if (isForeign(request, rules)) {
    return { status: 403, message: `${name} accepts this request from its own pages only.` }
  }
  introduce(head, claims)
  head.person = claims
  return undefined
}

/** A session of a service at one host. */
export interface SessionPlace {
  readonly rule: SignInRule
  readonly service: string
  readonly host: string
  readonly isSecure: boolean
}

/** Returns the signed-in person of a request. Undefined without a session for this place. */
export function sessionOf(
  { tokens }: Pick<Traffic, 'tokens'>,
  request: Pick<ClientRequest, 'headers'>,
  { rule, service, host, isSecure }: SessionPlace,
): SignInClaims | undefined {
  for (const value of cookieValues(request.headers.cookie, { kind: 'access', service, isSecure })) {
    const dot = value.indexOf('.')
    const claims = tokens.check(value.slice(dot + 1), rule)
    if (!claims || claims.service !== service || claims.host !== host) continue
    if (digestOf(value.slice(0, dot)) === claims.challenge) return claims
  }
  return undefined
}

/** Browsers of the last years name the mode. Older ones accept HTML when they open a page. */
function isNavigation({ method, headers }: ClientRequest): boolean {
  if (method !== 'GET' || headers.upgrade !== undefined) return false
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? (headers.accept?.includes('text/html') ?? false) : mode === 'navigate'
}

/** Sends a browser to the sign-in page, with the digest of a secret that it keeps. */
function beginning(
  traffic: Traffic,
  { url = '/', headers }: ClientRequest,
  { rule, ruled, host }: { readonly rule: SignInRule; readonly ruled: Ruled; readonly host: string },
): Failure {
  const { name, service, head } = ruled
  const message = `${name} requires that you sign in.`
  const secure = head.isSecure ? undefined : httpsAddress(traffic, host, url)
  if (secure !== undefined) return { status: 302, message, location: secure }
  const cookie = { kind: 'start', service, isSecure: head.isSecure } as const
  const secret = secretOf(headers.cookie, cookie)
  const question = new URLSearchParams({
    service,
    host,
    challenge: digestOf(secret),
    path: isReturnPath(url) ? url : '/',
    ...(head.isSecure && { secure: '1' }),
  })
  return { status: 302, message, location: `${rule.page}?${question}`, cookies: [setCookie(cookie, secret)] }
}

const unsigned = (name: string): Failure => ({
  status: 401,
  message: `${name} requires that you sign in. Open one of its pages in a browser to do so.`,
})

/** The cookie is deleted, so that the next attempt begins at the sign-in page. */
const unwelcome = ({ email }: SignInClaims, { name, service, head: { isSecure } }: Ruled): Failure => ({
  status: 403,
  message: `${email} may not open ${name}. Ask an administrator of its organization, or sign in as someone else.`,
  cookies: [setCookie({ kind: 'access', service, isSecure }, '')],
})

/**
 * Whether a page of another origin sends a request that may have an effect, or puts the response
 * into a script, an image or a frame. The application has no sign-in of its own, so it is not
 * expected to check that.
 */
function isForeign({ method, headers }: ClientRequest, rules: Rules): boolean {
  if (headers.upgrade === undefined && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')) {
    return !rules.given.embeddable && isEmbedded(headers, rules)
  }
  const { origin, host } = headers
  const allowed = allowedOrigin(rules, origin)
  if (allowed !== undefined && allowed !== '*') return false
  if (origin !== undefined) return authorityOf(URL.parse(origin)?.host) !== authorityOf(host)
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}

/**
 * Whether a page of another origin loads something that it does not open as a page (Fetch
 * Metadata). Older browsers do not say it; then the headers of the response have them refuse it.
 */
function isEmbedded(headers: ClientRequest['headers'], rules: Rules): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest = 'document' } = headers
  if (site !== 'cross-site' && site !== 'same-site') return false
  if (mode === 'navigate') return dest !== 'document'
  return mode !== 'cors' || allowedOrigin(rules, headers.origin) === undefined
}

/** Returns a host without a usual port, which browsers leave out. */
const authorityOf = (host: string | undefined): string => host?.toLowerCase().replace(/:(?:80|443)$/, '') ?? ''

/** Replaces the headers about the person. Programs know the same facts under several names. */
function introduce({ forwarded }: RequestHead, { account, email, role }: SignInClaims): void {
  for (let index = forwarded.length - 2; index >= 0; index -= 2) {
    const lower = forwarded[index]?.toLowerCase() ?? ''
    if (isIdentityName(lower)) forwarded.splice(index, 2)
  }
  forwarded.push('X-Forwarded-User', account, 'X-Forwarded-Email', plain(email), 'X-Forwarded-Groups', plain(role))
}

/** Returns a text as a header and one item of a list: other characters are percent-encoded. */
const plain = (text: string): string => text.replace(/[^\x20-\x24\x26-\x2b\x2d-\x7e]+/g, encodeURIComponent)
