import { networkList } from '@quayside/contract/forwarded.ts'
import type { RouteRules } from '@quayside/contract/routes.ts'
import type { Failure } from './pages.ts'

/** The rules of one route, ready to be asked. Routes without rules have none of this. */
export interface Rules {
  readonly given: RouteRules
  readonly allows: ((address: string) => boolean) | undefined
  readonly denies: ((address: string) => boolean) | undefined
  /** Names in lower case, of answers in which they are set anew. */
  readonly headers: ReadonlyMap<string, readonly [string, string]>
  /** A request without a body always goes on to an endpoint. */
  readonly isOpen: boolean
  /** Answers go on to clients with the headers that they have. */
  readonly keepsHeaders: boolean
}

/** Throws where a network is none. */
export function compileRules(given: RouteRules): Rules {
  const { allow, deny, headers = {}, cors, basicAuth, sticky } = given
  return {
    given,
    allows: allow && networkList(allow),
    denies: deny && networkList(deny),
    headers: new Map(Object.entries(headers).map((pair) => [pair[0].toLowerCase(), pair])),
    isOpen: !allow && !deny && !cors && !basicAuth,
    keepsHeaders: Object.keys(headers).length === 0 && !cors && !sticky,
  }
}

/** Why a request of this client is not passed on. `length` is that of its body, where it tells one. */
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
  message: `${name} takes at most ${maxBytes / 1_048_576} MB.`,
})

/** The origin that may read the answer, as the answer tells it; undefined: none may. */
export function allowedOrigin({ given: { cors } }: Rules, origin: string | undefined): string | undefined {
  if (!cors || origin === undefined) return undefined
  if (cors.origins.includes('*')) return '*'
  const anyLabel = origin.replace(/^(https?:\/\/)[^.:/]+\./, '$1*.')
  return cors.origins.some((one) => one === origin || one === anyLabel) ? origin : undefined
}

/** What a browser is told that asks whether it may send a request; undefined: it did not ask that, or it is the endpoint's business. */
export function preflightOf(
  rules: Rules,
  request: { readonly method: string; readonly origin: string | undefined; readonly asks: boolean },
): readonly string[] | undefined {
  const { cors } = rules.given
  if (!cors || request.method !== 'OPTIONS' || !request.asks) return undefined
  const origin = allowedOrigin(rules, request.origin)
  if (origin === undefined) return ['Vary', 'Origin', 'Content-Length', '0']
  return [
    ...corsHeaders(origin),
    'Access-Control-Allow-Methods',
    cors.methods,
    'Access-Control-Allow-Headers',
    cors.headers,
    'Access-Control-Max-Age',
    '1728000',
    'Content-Length',
    '0',
  ]
}

/** Credentials go along only where the origin is named. */
const corsHeaders = (origin: string): string[] => [
  'Access-Control-Allow-Origin',
  origin,
  ...(origin === '*' ? [] : ['Access-Control-Allow-Credentials', 'true', 'Vary', 'Origin']),
]

/** The headers of an answer, name and value by turns, as the rules have them. `cookie` keeps the client at its endpoint, below `path`. */
export function ruledHeaders(
  rules: Rules,
  headers: readonly string[],
  {
    origin,
    cookie,
    path,
  }: { readonly origin: string | undefined; readonly cookie: string | undefined; readonly path: string },
): string[] {
  const { cors } = rules.given
  const isSet = (name: string): boolean =>
    rules.headers.has(name) || (cors !== undefined && /^access-control-allow-(?:origin|credentials)$/.test(name))
  const kept = headers.filter((_, index) => !isSet(headers[index - (index % 2)]?.toLowerCase() ?? ''))
  const allowed = allowedOrigin(rules, origin)
  return [
    ...kept,
    ...[...rules.headers.values()].flat(),
    ...(allowed === undefined ? [] : corsHeaders(allowed)),
    ...(cookie === undefined ? [] : ['Set-Cookie', `${stickyCookie}=${cookie}; Path=${path}; HttpOnly; SameSite=Lax`]),
  ]
}

const stickyCookie = 'quayside_replica'

/** The endpoint that the client was given before. */
export const stickyIn = (cookies: string | undefined): string | undefined =>
  cookies === undefined ? undefined : /(?:^|; ?)quayside_replica=([\w-]{16})(?:;|$)/.exec(cookies)?.[1]
