/** What the control plane tells a router: the whole table, every time. Plain data; the same file is read by both sides. */
export interface Route {
  /** Lower-case host name without port; `*.example.org` is every name with one label before `example.org`. With `listen`: name and port. */
  readonly host: string
  /** Only requests whose path is this or below it: segments behind slashes, without a closing one. Absent: all that no longer path takes. */
  readonly path?: string
  /**
   * The path that endpoints see instead of `path`: of the same form, or `/` alone. Absent: the path
   * is unchanged.
   */
  readonly rewrite?: string
  /** A port of this machine that leads to the endpoints in place of the host name: bytes or datagrams are passed on as they are. */
  readonly listen?: RoutePort
  readonly service: string
  /** For the pages that people see when nothing answers. */
  readonly name: string
  /** Where requests go; empty: `reason` is shown with 503. */
  readonly endpoints: readonly RouteEndpoint[]
  /** Why there is no endpoint: `stopped`, `not deployed yet`, … */
  readonly reason?: string
  /** There is no endpoint because nobody asked for long: requests wait until one is there, and wake the service. */
  readonly asleep?: boolean
  /** What its users wish beyond passing requests on; absent: nothing. */
  readonly rules?: RouteRules
}

/** Characters that mean the same escaped or not, so that a path has one spelling. */
const segment = /^[A-Za-z0-9._~-]+$/
export const longestRoutePath = 1000

/** Whether a text is a path that a route can begin at: not `/` alone, no closing slash, no segment that leads elsewhere. */
export function isRoutePath(text: string): boolean {
  if (text.length > longestRoutePath || !text.startsWith('/')) return false
  const segments = text.slice(1).split('/')
  return segments.every((one) => segment.test(one) && one !== '.' && one !== '..')
}

/** Advanced settings of a service that its router acts on. */
export interface RouteRules {
  /** Requests with more than so many bytes of body get 413. */
  readonly maxBodyBytes?: number
  /** An endpoint may be silent for so long: until its answer begins, and within it. */
  readonly readTimeoutMs?: number
  /** A connection to an endpoint may take this long. Without it the router decides: it gives up soon, and tries another endpoint. */
  readonly connectTimeoutMs?: number
  /** An endpoint may accept nothing of a request's body for this long. */
  readonly sendTimeoutMs?: number
  /** A client may accept nothing of an answer for this long. */
  readonly clientTimeoutMs?: number
  /** A request may take this long, from its first byte to the last one of its answer. */
  readonly requestTimeoutMs?: number
  /** A connection to an endpoint is kept this long while no request uses it. */
  readonly idleTimeoutMs?: number
  /** When a request is sent again. Without it the router decides. */
  readonly retry?: RetryRule
  /** Networks: requests from elsewhere get 403. */
  readonly allow?: readonly string[]
  /** Networks: requests from there get 403. */
  readonly deny?: readonly string[]
  /** A client's requests go to the same endpoint while that is there, by a cookie. */
  readonly sticky?: boolean
  /** Who may read answers from a browser. Origins may have a `*` in place of their first label, or be `*` alone. */
  readonly cors?: { readonly origins: readonly string[]; readonly methods: string; readonly headers: string }
  /** Set in every answer, in place of those of the endpoint. */
  readonly headers?: Readonly<Record<string, string>>
  /** Only requests with one of these logins and its password are passed on (RFC 7617); the others get 401. Never empty. */
  readonly basicAuth?: readonly BasicCredential[]
}

/**
 * When a request is retried. A request that may have had an effect is never sent twice, whatever
 * the rule says.
 */
export interface RetryRule {
  /** Further tries after the first. */
  readonly times: number
  /** The conditions of a retry; absent: connections that fail or break. */
  readonly on?: readonly RetryCondition[]
  /** Statuses of answers that are tried again. */
  readonly statuses?: readonly number[]
  /** Each try must begin to answer within this time. */
  readonly perTryMs?: number
}

export const retryConditions = [
  'connect-failure',
  'reset',
  'reset-before-request',
  'refused-stream',
  '5xx',
  'gateway-error',
  'retriable-4xx',
  'retriable-status-codes',
] as const
export type RetryCondition = (typeof retryConditions)[number]

/** One login that a route lets in. */
export interface BasicCredential {
  readonly login: string
  /**
   * What its password must give: `$apr1$<salt>$<hash>` as htpasswd writes it; `scrypt:<salt>:<hash>` of the password, or
   * `sha1-scrypt:<salt>:<hash>` of its SHA-1, with salt and hash in base64url and the cost below.
   */
  readonly hash: string
}

/** Of scrypt in credentials: some milliseconds a check. */
export const passwordCost = { N: 2048, r: 8, p: 1, bytes: 32 } as const
/** Longer passwords are refused without a look, in bytes. */
export const longestPassword = 512

export interface RoutePort {
  readonly protocol: 'TCP' | 'UDP'
  readonly port: number
}

export interface RouteEndpoint {
  /** IP address. */
  readonly address: string
  readonly port: number
}

export interface RouteTable {
  /** Grows with every change: a router ignores a table older than the one it has. */
  readonly version: number
  readonly routes: readonly Route[]
}
