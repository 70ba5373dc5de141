import type { PeopleList, PeopleLists, SignInRule } from './sign-in.ts'

/**
 * A route of the table that the control plane sends to a router, whole or as changes. Both sides
 * read this file.
 */
export interface Route {
  /**
   * Lower-case host name, with the port only if `listen` is set. `*.example.org` matches names with
   * one label before `example.org`.
   */
  readonly host: string
  /**
   * Matches this path and paths below it. No trailing slash. Without it, the route gets all
   * requests that no longer path matches.
   */
  readonly path?: string
  /**
   * The path that endpoints see instead of `path`, in the same form or `/`. Without it, the path is
   * unchanged.
   */
  readonly rewrite?: string
  /**
   * A TCP or UDP port of this machine for the route, instead of a host name. Bytes are forwarded
   * unchanged.
   */
  readonly listen?: RoutePort
  readonly service: string
  /**
   * The organization of the service. Routers divide what all services share by it. Tables of older
   * servers, and routes to the platform itself, have none.
   */
  readonly organization?: string
  /** The name of the service, for error pages. */
  readonly name: string
  /** Whether the endpoints speak HTTP/2 without TLS, as gRPC does. Otherwise HTTP/1.1. */
  readonly speaksHttp2?: boolean
  /** The targets of requests. If empty, requests get 503 with `reason`. */
  readonly endpoints: readonly RouteEndpoint[]
  /**
   * The release to which the endpoints belong, and the environment of the service. A cluster finds
   * its replicas by them, also those that start later. Pods of charts have no release: `pods` are
   * their labels then, in addition to those of the service.
   */
  readonly replicas?: {
    readonly environment: string
    readonly release: string
    readonly pods?: Readonly<Record<string, string>>
  }
  /**
   * A name that resolves to the addresses of the replicas that are ready. A router follows it while
   * the control plane is away.
   */
  readonly follow?: string
  /** Why the service has no endpoint: `stopped`, `not deployed yet`, … */
  readonly reason?: string
  /**
   * The service sleeps because it had no requests. A request wakes it and waits for an endpoint.
   */
  readonly asleep?: boolean
  /** A new version that is being tried out, if any. A route of a TCP or UDP port has none. */
  readonly canary?: RouteCanary
  /** The rules for its requests, if any. */
  readonly rules?: RouteRules
  /** The certificate of its host. Without it, the host has none. */
  readonly tls?: RouteTls
}

export interface RouteTls {
  /**
   * A Secret of the cluster, a ClusterIssuer of cert-manager that makes a certificate for the host,
   * the default certificate of the ingress controller, or a certificate of the platform for its own
   * router.
   */
  readonly from: { readonly secret: string } | { readonly issuer: string } | 'controller' | 'platform'
  /** Whether plain HTTP is redirected to HTTPS. */
  readonly redirects: boolean
}

/**
 * The certificates of the platform's own router. The control plane sends them whole, beside the
 * table. A router keeps them in memory only.
 */
export interface TlsMaterial {
  readonly certificates: readonly TlsCertificate[]
  readonly challenges: readonly AcmeChallenge[]
  /** Undefined: the router does not lead to the platform itself. */
  readonly door?: PlatformDoor
  /** The key of session tickets, 48 bytes in base64. Without it, each router makes its own. */
  readonly ticketKey?: string
}

/** The service of routes to the platform itself, which belong to no service. */
export const platformService = '00000000-0000-0000-0000-000000000000'

/**
 * How the server recognizes its router. Requests for this service have the secret in the header
 * `doorHeader`, so the server believes their `X-Forwarded-For`.
 */
export interface PlatformDoor {
  readonly service: string
  readonly secret: string
}

/** Routers remove it from all requests of clients. In lower case. */
export const doorHeader = 'x-quayside-door'

export interface TlsCertificate {
  /** The host name, as in a route. */
  readonly host: string
  /** The certificate and the ones of its issuers, in PEM format. */
  readonly chain: string
  /** The private key, in PEM format. */
  readonly key: string
}

/** How a certificate authority checks a host: at port 80 (RFC 8555) or at port 443 (RFC 8737). */
export const challengeKinds = ['http-01', 'tls-alpn-01'] as const
export type ChallengeKind = (typeof challengeKinds)[number]

/** A question of a certificate authority about a host, and its answer. */
export interface AcmeChallenge {
  readonly kind: ChallengeKind
  readonly host: string
  readonly token: string
  /**
   * The body of a response (HTTP-01), or the certificate of a handshake with its private key in PEM
   * format (TLS-ALPN-01). That key belongs to the challenge alone.
   */
  readonly answer: string
}

/** The settings of a cluster for certificates, and the domain of its names. */
export interface ClusterTls {
  readonly domain: string
  readonly secret: string | null
  readonly issuer: string | null
  readonly byController: boolean
}

/**
 * `READY` and `EXPIRED`: the host answers with its certificate. `PENDING` and `FAILED`: it answers
 * plain HTTP only.
 */
export const certificateStates = ['PENDING', 'READY', 'EXPIRED', 'FAILED'] as const

/** The certificate of a host as its router knows it. */
export interface HostCertificate {
  readonly state: (typeof certificateStates)[number]
  /** Why it is not ready. A sentence without its end. */
  readonly message: string | null
}

/** Whether HTTPS answers with this certificate. */
export const isServed = ({ state }: HostCertificate): boolean => state === 'READY' || state === 'EXPIRED'

/** Characters without escapes and with one meaning, so that a path has one form. */
const segment = /^[A-Za-z0-9._~-]+$/
export const longestRoutePath = 1000

/**
 * Returns whether a string is a path of a route: not `/`, no trailing slash, no `.` or `..`
 * segment.
 */
export function isRoutePath(text: string): boolean {
  if (text.length > longestRoutePath || !text.startsWith('/')) return false
  const segments = text.slice(1).split('/')
  return segments.every((one) => segment.test(one) && one !== '.' && one !== '..')
}

/** The rules of a route, from the advanced settings of its service. */
export interface RouteRules {
  /** Requests with a larger body get 413. */
  readonly maxBodyBytes?: number
  /** How long an endpoint may be silent, before and during its response. */
  readonly readTimeoutMs?: number
  /**
   * How long connecting to an endpoint may take. Without it, the router tries another endpoint
   * soon.
   */
  readonly connectTimeoutMs?: number
  /** How long an endpoint may accept no bytes of a request's body. */
  readonly sendTimeoutMs?: number
  /** How long a client may accept no bytes of a response. */
  readonly clientTimeoutMs?: number
  /** How long a request may take, from its first byte to the last byte of its response. */
  readonly requestTimeoutMs?: number
  /** How long an idle connection to an endpoint is kept. */
  readonly idleTimeoutMs?: number
  /** When a request is retried. Without it, the router decides. */
  readonly retry?: RetryRule
  /** Requests from outside these networks get 403. */
  readonly allow?: readonly string[]
  /** Requests from these networks get 403. */
  readonly deny?: readonly string[]
  /** A cookie keeps a client at the same endpoint while it is listed. */
  readonly sticky?: boolean
  /** Each request is a line of the service. */
  readonly accessLines?: boolean
  /** Responses of types that compress are compressed for clients that accept it. */
  readonly compression?: boolean
  /** The CORS rule. An origin may have `*` as its first label, or be `*`. */
  readonly cors?: { readonly origins: readonly string[]; readonly methods: string; readonly headers: string }
  /** Headers for every response. They replace those of the endpoint. */
  readonly headers?: Readonly<Record<string, string>>
  /** Requests a minute of one client, by address or IPv6 network. More get 429. */
  readonly requestsPerMinute?: number
  /** Every request gets 503 with this message, except from the networks in `except`. */
  readonly maintenance?: { readonly message: string; readonly except?: readonly string[] }
  /** Requests for these paths are redirected. The first that matches decides. Never empty. */
  readonly redirects?: readonly RedirectRule[]
  /** Headers for every request to an endpoint. They replace the client's headers. */
  readonly requestHeaders?: Readonly<Record<string, string>>
  /** Requests without one of these logins and its password get 401 (RFC 7617). Never empty. */
  readonly basicAuth?: readonly BasicCredential[]
  /** Only these members of the organization may enter, signed in at the platform. */
  readonly signIn?: SignInRule
  /** Whether pages of other origins may embed responses to signed-in people. */
  readonly embeddable?: boolean
}

export const redirectStatuses = [301, 302, 307, 308] as const

/** A redirect of one path, or of all paths below one. */
export interface RedirectRule {
  /** A path such as `/old`. With `/*` at its end it stands for all paths below it. */
  readonly from: string
  /** A path or an address. With `/*` at its end it gets what `from` leaves. */
  readonly to: string
  readonly status: (typeof redirectStatuses)[number]
}

/** When a request is retried. No rule retries a request that may have had an effect. */
export interface RetryRule {
  /** The most tries after the first. */
  readonly times: number
  /** The conditions of a retry. Without them: connections that fail or are reset. */
  readonly on?: readonly RetryCondition[]
  /** Response statuses that are retried. */
  readonly statuses?: readonly number[]
  /** The time within which each try must begin its response. */
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

/** A login that a route accepts. No login is in a list twice. */
export interface BasicCredential {
  readonly login: string
  /**
   * The hash of its password: `$apr1$<salt>$<hash>` as htpasswd writes it, `scrypt:<salt>:<hash>`
   * of the password, or `sha1-scrypt:<salt>:<hash>` of its SHA-1. Salt and hash are in base64url.
   * The cost is below.
   */
  readonly hash: string
}

/** The cost of scrypt in credentials: some milliseconds a check. */
export const passwordCost = { N: 2048, r: 8, p: 1, bytes: 32 } as const
/** Longer passwords are rejected unchecked. In bytes. */
export const longestPassword = 512

export interface RoutePort {
  readonly protocol: 'TCP' | 'UDP'
  readonly port: number
}

export interface RouteEndpoint {
  /** An IP address. */
  readonly address: string
  readonly port: number
}

/** A new version of a service that gets a share of the requests. The endpoints get the others. */
export interface RouteCanary {
  /** Its release. Its requests are counted under it. */
  readonly release: string
  /** The number of requests in 100 that it gets, from 1 to 100. */
  readonly percent: number
  /** Never empty. */
  readonly endpoints: readonly RouteEndpoint[]
  /** A response that begins later is slow. Without it, none is. */
  readonly slowMs?: number
  /** A name that resolves to its replicas, as `follow` of the route does to the others. */
  readonly follow?: string
}

export interface RouteTable {
  /** Grows with every change. A router rejects a table older than its own. */
  readonly version: number
  readonly routes: readonly Route[]
  /** The lists to which rules of its routes refer. */
  readonly people?: PeopleLists
}

/** The difference between two tables. A router with another version than `from` refuses it. */
export interface RouteChanges {
  readonly from: number
  readonly version: number
  /** Routes that are new, or replace the route with the same place. */
  readonly put: readonly Route[]
  /** The places of removed routes. */
  readonly gone: readonly string[]
  /** Lists of people that are new or changed, and null for removed ones. */
  readonly people?: Readonly<Record<string, PeopleList | null>>
}

/** Returns the host and path of a route. No two routes of a table share them. */
export const placeOf = ({ host, path = '/' }: Pick<Route, 'host' | 'path'>): string => host + path
