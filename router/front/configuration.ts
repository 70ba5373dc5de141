import { createHash } from 'node:crypto'
import type { ConnectionLimits } from '@quayside/contract/connection-shares.ts'
import { limits } from '../limits.ts'
import { longestKey } from './endpoint-keys.ts'
import type { FrontFiles } from './front-files.ts'
import { globalSection, type ProcessSettings, smallCopies } from './global-section.ts'
import { hotRules } from './hot-routes.ts'
import { http3Bind, http3Hint } from './http3-rules.ts'
import { choosingRules, droppingRule, readingRules } from './request-rules.ts'
import { carrier, rateOfEndpoint, ringSection, routerServer, silentRule, timeLines, timeRules } from './times.ts'
import { unreadRules } from './unread-rules.ts'

/** The settings of a front. */
export interface FrontSettings extends ProcessSettings {
  readonly host: string
  readonly port: number
  /** Undefined: HTTP only. */
  readonly tlsPort: number | undefined
  /** The ports that clients use, if they are others. */
  readonly publicPort?: number | undefined
  readonly publicTlsPort?: number | undefined
  readonly connections: ConnectionLimits
  /** Networks of trusted proxies. Their requests go to the router, which reads their headers. */
  readonly trusted: readonly string[]
  /** Networks of load balancers whose connections begin with a PROXY header. */
  readonly proxies: readonly string[]
}

/** The share of all connections that one trusted proxy may have, as in `ConnectionShares`. */
const shareOfProxy = 0.9
/** From this share of all connections on, no idle connection is kept. */
const crowdedShare = 0.8
/**
 * A connection to an endpoint that takes longer is left to the router, which has its own limit and
 * retries.
 */
const connectMs = 100
const dayMs = 86_400_000

/** The configuration of HAProxy, with a mark by which another process knows it again. */
export interface Configuration {
  readonly text: string
  readonly mark: string
}

/** Returns the configuration of a front. Equal settings have the same mark. */
export function configurationOf(settings: FrontSettings): Configuration {
  const { tlsPort, http3 } = settings
  const body = [
    ...defaults(),
    ...frontend(settings, 'plain', { port: settings.port, publicPort: settings.publicPort }),
    ...(tlsPort === undefined
      ? []
      : frontend(settings, 'secure', { port: tlsPort, publicPort: settings.publicTlsPort })),
    ...(tlsPort === undefined || http3 === undefined ? [] : http3Frontend(settings, tlsPort)),
    ...backends(settings),
  ]
  const mark = createHash('sha256').update(body.join('\n')).digest('hex').slice(0, 16)
  return { text: `${[...globalSection(settings, mark), ...ringSection, ...body].join('\n')}\n`, mark }
}

const defaults = (): string[] => [
  'defaults',
  '  mode http',
  '  option abortonclose',
  `  timeout connect ${connectMs}ms`,
  `  timeout client ${hotRules.clientTimeoutMs}ms`,
  `  timeout server ${hotRules.readTimeoutMs}ms`,
  `  timeout http-request ${limits.clientHeadersMs}ms`,
  `  timeout http-keep-alive ${limits.clientIdleMs}ms`,
  `  timeout tunnel ${dayMs}ms`,
  ...failures.map(
    ([status, message]) =>
      `  http-error status ${status} content-type "application/json; charset=utf-8" ` +
      `string '${JSON.stringify({ status, error: titles[status], message, detail: message })}'` +
      (status === 429 || status === 503 ? ' hdr Retry-After 1' : ''),
  ),
]

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  429: 'Too Many Requests',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

const failures: readonly (readonly [number, string])[] = [
  [400, 'The request is malformed.'],
  [408, 'The request did not arrive in time.'],
  [429, 'Your address has too many open requests here. Try again.'],
  [501, 'Over HTTP/2 and HTTP/3, only a WebSocket may take over a request.'],
  [502, 'The application broke off its response.'],
  [503, 'The application has too many open requests. Try again in a moment.'],
  [504, 'The application did not answer in time.'],
]

function frontend(
  settings: FrontSettings,
  name: Door,
  { port, publicPort = port }: { readonly port: number; readonly publicPort: number | undefined },
): string[] {
  const { host, files } = settings
  const tls = ` ssl strict-sni crt-list ${files.certificates} alpn h2,http/1.1`
  return [
    `frontend ${name}`,
    // Without v4v6 the kernel's setting net.ipv6.bindv6only decides.
    `  bind ${addressOf(host)}:${port}${host === '::' ? ' v4v6' : ''}${name === 'secure' ? tls : ''}`,
    ...requestRules(settings, name),
    `  http-response set-header keep-alive timeout=${limits.clientIdleMs / 1000} if { fc_http_major 1 }`,
    ...(name === 'secure' && settings.http3 !== undefined ? [http3Hint(publicPort)] : []),
    ...choosingRules({ name, trusts: settings.trusted.length > 0 }),
    ...hotBackends(settings, name, publicPort),
    `backend clients-${name}`,
    `  stick-table type ipv6 size ${Math.max(settings.connections.total * 2, 10_000)} expire 1m store conn_cur`,
  ]
}

/** A client of IPv4 whose address is written as one of IPv6, and the address alone. */
const mapped = '{ src ::ffff:0:0/96 }'
const plainSource = 'src,ipmask(32)'

/** The names of frontends, whose requests have maps and backends of their own. */
type Door = 'plain' | 'secure'

const addressOf = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/**
 * HTTP/3 has a frontend of its own, because HAProxy leaves the port of HTTPS to the router now and
 * then. Everything after `bind` is as for HTTPS.
 */
const http3Frontend = (settings: FrontSettings, port: number): string[] => [
  'frontend http3',
  `  ${http3Bind(addressOf(settings.host), port, settings.files)}`,
  ...requestRules(settings, 'secure'),
  http3Hint(settings.publicTlsPort ?? port),
  ...choosingRules({ name: 'secure', trusts: false }),
]

/** The rules that limit clients and find the line of a request. */
function requestRules(settings: FrontSettings, name: Door): string[] {
  const { files, trusted } = settings
  const { total, perClient } = settings.connections
  return [
    `  maxconn ${total}`,
    ...timeLines,
    `  acl trusted ${trusted.length === 0 ? 'always_false' : `src ${trusted.join(' ')}`}`,
    ...connectionRules(settings, name),
    // One connection of HTTP/2 or HTTP/3 carries many requests.
    '  http-request track-sc2 src,ipmask(32,64) table streams if { fc_http_major 2 3 } !trusted',
    `  http-request deny deny_status 429 if { sc2_conn_cur gt ${perClient} }`,
    ...readingRules({ files, name }),
    `  http-after-response set-header connection close if { fe_conn gt ${Math.floor(total * crowdedShare)} }`,
  ]
}

/**
 * Counts the connections of a client and sets its address, as early as it is known. A load balancer
 * names it in a PROXY header, which HAProxy reads after the rules of connections. Other clients
 * have their share before a handshake.
 */
function connectionRules({ host, connections, proxies }: FrontSettings, name: Door): string[] {
  const { total, perClient } = connections
  const ofProxy = Math.max(perClient, Math.floor(total * shareOfProxy))
  const rules = (at: 'connection' | 'session', whose = ''): string[] => {
    const [only, and] = whose === '' ? ['', ''] : [` if ${whose}`, `${whose} `]
    const mayBeMapped = host.includes(':') || whose !== ''
    return [
      `  tcp-request ${at} track-sc0 src,ipmask(32,64) table clients-${name}${only}`,
      `  tcp-request ${at} reject if ${and}!trusted { sc0_conn_cur gt ${perClient} }`,
      `  tcp-request ${at} reject if ${and}trusted { sc0_conn_cur gt ${ofProxy} }`,
      // Written once for a connection, because each request has it in two headers.
      `  tcp-request ${at} set-var-fmt(sess.client) %[src]${only}`,
      // An address of IPv4 may be written as one of IPv6.
      ...(mayBeMapped ? [`  tcp-request ${at} set-var-fmt(sess.client) %[${plainSource}] if ${and}${mapped}`] : []),
    ]
  }
  if (proxies.length === 0) return rules('connection')
  return [
    '  acl is_named var(sess.named) -m found',
    `  tcp-request connection set-var(sess.named) bool(true) if { src ${proxies.join(' ')} }`,
    '  tcp-request connection expect-proxy layer4 if is_named',
    ...rules('connection', '!is_named'),
    ...rules('session', 'is_named'),
  ]
}

/** Sets the endpoint of a hot request, counts the request there, and names its sender. */
const addressing = (isSecure: boolean, port: number): string[] => [
  '  http-request set-dst var(txn.route),field(1,:)',
  '  http-request set-dst-port var(txn.route),field(2,:)',
  '  http-request track-sc1 var(txn.route) table endpoints',
  `  http-request deny deny_status 503 if { sc1_conn_cur gt ${limits.openPerEndpoint} }`,
  droppingRule,
  // One rule that adds lines costs less than a rule for each of them.
  `  http-request add-header ${forwarded(isSecure, port).join(String.raw`\r\n`)}`,
]

/**
 * The lines of the headers that name a sender. HAProxy writes them as one value, so no variable may
 * have a line end: one is an address, and the other is the Host header that a line of a map has.
 */
const forwarded = (isSecure: boolean, port: number): readonly string[] => [
  'X-Forwarded-For "%[var(sess.client)]',
  `X-Forwarded-Proto: ${isSecure ? 'https' : 'http'}`,
  'X-Forwarded-Host: %[var(txn.host)]',
  `X-Forwarded-Port: ${port}`,
  'X-Real-IP: %[var(sess.client)]"',
]

const countOf = (group: number): string =>
  `  http-response sc-inc-gpc(${group - 1},1) if { status ${group}00:${group}99 } carried`

/**
 * Counts responses of endpoints by the class of their status. Most have 2xx and meet no further
 * rule. The router counts the ones that it answers.
 */
const counting = [
  `  acl carried srv_name ${carrier}`,
  countOf(2),
  '  http-response allow if { status 200:299 } carried',
  ...[1, 3, 4, 5].map(countOf),
  '  http-response sc-inc-gpc(5,1) if !carried',
]

/**
 * `hot` retries requests that change nothing. `once` has a new connection for each request, so
 * that none can meet one that the endpoint is closing. A request that fails in both goes to the
 * router: it retries, waits, and answers with its own page.
 */
function hotBackends({ files }: FrontSettings, name: Door, port: number): string[] {
  const hot = (kind: string, retried: string): string[] => [
    `backend ${kind}-${name}`,
    '  balance roundrobin',
    '  option redispatch 1',
    '  retries 1',
    `  retry-on ${retried}`,
    ...addressing(name === 'secure', port),
    ...timeRules(name),
    ...counting,
    `  use-server ${carrier} if TRUE`,
    `  server ${carrier} 0.0.0.0:0 weight 0`,
    `  ${ownServer(files)}`,
  ]
  return [
    ...hot('hot', 'conn-failure empty-response'),
    '  http-reuse safe',
    ...smallCopies('  option use-small-buffers l7-retries'),
    ...hot('once', 'conn-failure'),
    '  option http-server-close',
  ]
}

const ownServer = ({ own }: FrontFiles): string =>
  `server ${routerServer} unix@${own} send-proxy-v2-ssl proxy-v2-options ssl,authority`

/**
 * A WebSocket over HTTP/2 becomes an upgrade of HTTP/1.1 (RFC 8441). HAProxy would do the same for
 * other protocols, and a status 2xx of an application that does not join would mean that it has.
 */
const joining: readonly string[] = [
  '  http-request set-var(txn.joins) bool(true) if { fc_http_major 2 } { req.fhdr(upgrade) -m found }',
  '  http-request deny deny_status 501 if { var(txn.joins) -m found } !{ req.fhdr(upgrade) -m str websocket }',
  '  http-response deny deny_status 502 if { status 200:299 } { var(txn.joins) -m found }',
]

const ownBackend = ({ files }: FrontSettings, name: string, protocol: string): string[] => [
  `backend ${name}`,
  '  timeout connect 5s',
  ...joining,
  ...unreadRules,
  `  timeout server ${dayMs}ms`,
  '  retries 3',
  silentRule,
  `  ${ownServer(files)}${protocol}`,
]

/** Calls of gRPC reach the router over HTTP/2: their status can be in the headers of a response. */
const backends = (settings: FrontSettings): string[] => [
  ...ownBackend(settings, 'own', ''),
  ...ownBackend(settings, 'own-calls', ' proto h2'),
  'backend streams',
  `  stick-table type ipv6 size ${Math.max(settings.connections.total, 10_000)} expire 1m store conn_cur`,
  'backend endpoints',
  `  stick-table type string len ${longestKey} size 100k expire 24h ` +
    `store conn_cur,http_req_cnt,${rateOfEndpoint},gpc(6),bytes_in_cnt,bytes_out_cnt`,
]
