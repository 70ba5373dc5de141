import { networkList } from '@quayside/contract/forwarded.ts'
import { compileRedirects, type Redirecting } from '@quayside/contract/redirects.ts'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { compileLogins, type Logins } from './logins.ts'
import type { Failure } from './pages.ts'

/** The compiled rules of one route. */
export interface Rules {
  readonly given: RouteRules
  readonly allows: ((address: string) => boolean) | undefined
  readonly denies: ((address: string) => boolean) | undefined
  /** Whether a client reaches the service during its maintenance. */
  readonly passes: ((address: string) => boolean) | undefined
  /** Undefined: no request is redirected. */
  readonly redirects: Redirecting | undefined
  /** Undefined: no password is required. */
  readonly logins: Logins | undefined
  /** The headers to set in responses, by their names in lower case. */
  readonly headers: ReadonlyMap<string, readonly [string, string]>
  /** Whether every request without a body goes to an endpoint. */
  readonly isOpen: boolean
  /** Whether responses keep their headers unchanged. */
  readonly keepsHeaders: boolean
}

/** The rules that may answer a request without a body. */
const deciding = [
  'allow',
  'deny',
  'cors',
  'basicAuth',
  'requestsPerMinute',
  'maintenance',
  'redirects',
  'signIn',
] as const satisfies readonly (keyof RouteRules)[]

/** Compiles the rules of a route. Throws if a network is invalid. */
export function compileRules(given: RouteRules): Rules {
  const { allow, deny, headers = {}, cors, sticky, signIn, maintenance, redirects, basicAuth } = given
  return {
    given,
    allows: allow && networkList(allow),
    denies: deny && networkList(deny),
    passes: maintenance?.except && networkList(maintenance.except),
    redirects: redirects && compileRedirects(redirects),
    logins: basicAuth && compileLogins(basicAuth),
    headers: new Map(Object.entries(headers).map((pair) => [pair[0].toLowerCase(), pair])),
    isOpen: deciding.every((name) => !given[name]),
    keepsHeaders: Object.keys(headers).length === 0 && !cors && !sticky && !signIn,
  }
}

/**
 * Returns why a request of this client is rejected. `length` is the declared length of its body, or
 * 0.
 */
export function refusalBy(
  { given, allows, denies }: Rules,
  request: { readonly client: string; readonly length: number; readonly name: string },
): Failure | undefined {
  const { client, length, name } = request
  if (denies?.(client) || allows?.(client) === false) {
    return { status: 403, message: `${name} does not answer requests from ${client}.` }
  }
  return given.maxBodyBytes !== undefined && length > given.maxBodyBytes
    ? tooLarge(name, given.maxBodyBytes)
    : undefined
}

export const tooLarge = (name: string, maxBytes: number): Failure => ({
  status: 413,
  message: `The request body is too large. ${name} accepts at most ${maxBytes / 1_048_576} MB.`,
})

/**
 * Returns the value of `Access-Control-Allow-Origin`. Undefined if this origin may not read the
 * response.
 */
export function allowedOrigin({ given: { cors } }: Rules, origin: string | undefined): string | undefined {
  if (cors?.origins.includes('*')) return '*'
  if (!cors || origin === undefined) return undefined
  const anyLabel = origin.replace(/^(https?:\/\/)[^.:/]+\./, '$1*.')
  return cors.origins.some((one) => one === origin || one === anyLabel) ? origin : undefined
}

/**
 * Returns the headers of the response to a CORS preflight. Undefined if the request is not one, or
 * has no rule.
 */
export function preflightOf(
  rules: Rules,
  request: { readonly method: string; readonly origin: string | undefined; readonly asks: boolean },
): readonly string[] | undefined {
  const { cors } = rules.given
  if (!cors || request.method !== 'OPTIONS' || !request.asks) return undefined
  const readers = corsHeaders(rules, request.origin)
  if (allowedOrigin(rules, request.origin) === undefined) return readers
  return [
    ...readers,
    'Access-Control-Allow-Methods',
    cors.methods,
    'Access-Control-Allow-Headers',
    cors.headers,
    'Access-Control-Max-Age',
    '1728000',
  ]
}

/**
 * Returns the headers that say which origin may read a response, with credentials only for a named
 * one. If that depends on the origin, each response says so: a cache must not answer one origin
 * with the response to another.
 */
function corsHeaders(rules: Rules, origin: string | undefined): string[] {
  if (!rules.given.cors) return []
  const allowed = allowedOrigin(rules, origin)
  if (allowed === undefined) return ['Vary', 'Origin']
  const readers = ['Access-Control-Allow-Origin', allowed]
  return allowed === '*' ? readers : [...readers, 'Access-Control-Allow-Credentials', 'true', 'Vary', 'Origin']
}

/** Returns a page of the router that the origins of the route's CORS rule may read. */
export const readableBy = (failure: Failure, rules: Rules | undefined, origin: string | undefined): Failure =>
  rules?.given.cors ? { ...failure, headers: corsHeaders(rules, origin) } : failure

/** The request for a response, and where it comes from. */
interface Answered {
  /** The headers of the request. */
  readonly asked: { readonly origin?: string | undefined; readonly cookie?: string | undefined }
  /** The id of the endpoint. */
  readonly endpoint: string | undefined
  /** The path of the route. */
  readonly path: string
}

/**
 * Applies the rules to the headers of an endpoint's response, as alternating names and values. A
 * cookie keeps a sticky client at its endpoint, below the path of the route.
 */
export function ruledHeaders(rules: Rules, headers: readonly string[], { asked, endpoint, path }: Answered): string[] {
  const { cors, sticky } = rules.given
  const isNew = sticky && endpoint !== undefined && !stickyIn(asked.cookie).includes(endpoint)
  const isSet = (name: string): boolean =>
    rules.headers.has(name) || (cors !== undefined && /^access-control-allow-(?:origin|credentials)$/.test(name))
  const kept = headers.filter((_, index) => !isSet(headers[index - (index % 2)]?.toLowerCase() ?? ''))
  return [
    ...(rules.given.signIn ? privateHeaders(kept) : kept),
    ...(rules.given.signIn && !rules.given.embeddable ? isolatingHeaders(kept) : []),
    ...[...rules.headers.values()].flat(),
    ...corsHeaders(rules, asked.origin),
    ...(isNew ? ['Set-Cookie', `${stickyCookie}=${endpoint}; Path=${path}; HttpOnly; SameSite=Lax`] : []),
  ]
}

/** Keeps a response to a signed-in person out of caches that others share. */
function privateHeaders(headers: readonly string[]): string[] {
  const own = headers.map((value, index) =>
    index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'cache-control' ? withoutSharing(value) : value,
  )
  return [...own, 'Cache-Control', 'private', 'Vary', 'Cookie']
}

/**
 * Has browsers show the response of an application behind the sign-in to its own pages only, also
 * browsers that do not say where a request comes from. A page of a frame has to allow it as well.
 */
const isolatingHeaders = (headers: readonly string[]): readonly string[] => {
  const isSet = headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === resourcePolicy.toLowerCase())
  return [...(isSet ? [] : [resourcePolicy, 'same-origin']), 'Content-Security-Policy', "frame-ancestors 'self'"]
}
const resourcePolicy = 'Cross-Origin-Resource-Policy'

const withoutSharing = (value: string): string =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => !/^(?:public|s-maxage|proxy-revalidate)(?:=|$)/i.test(part))
    .join(', ') || 'private'

const stickyCookie = 'quayside_replica'

/**
 * Returns the ids of the client's previous endpoints, from its cookies. A client has one for each
 * path that a route of the host had, and sends the one with the longest path first.
 */
export const stickyIn = (cookies = ''): readonly string[] =>
  Array.from(cookies.matchAll(/(?:^|; ?)quayside_replica=([\w-]{16})(?=;|$)/g), ([, id = '']) => id)
