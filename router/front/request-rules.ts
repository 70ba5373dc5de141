import { doorHeader } from '@quayside/contract/routes.ts'
import type { FrontFiles } from './front-files.ts'
import { hotBodyBytes, shareCount } from './hot-routes.ts'

/** Which requests a frontend reads. */
export interface RequestRules {
  readonly files: FrontFiles
  readonly name: 'plain' | 'secure'
  /** Whether some clients are trusted proxies. The frontend must have the condition `trusted`. */
  readonly trusts: boolean
}

/** Names of request headers that endpoints must not get from clients, as in `request-head.ts`. */
const hopNames = ['forwarded', 'http2-settings', 'keep-alive', 'proxy', 'proxy-authorization', 'proxy-connection']
const droppedNames = [...hopNames, 'te', 'trailer', doorHeader, 'x-real-ip']
const droppedPrefix = 'x-forwarded-'
/** Names of headers whose values decide whether a request is hot. */
const checkedNames = ['authorization', 'connection', 'content-length', 'expect', 'transfer-encoding', 'upgrade']

/**
 * A list of names with commas that has one of these names, or one with a character that programs
 * read as a minus sign. It takes linear time.
 */
const listWith = (names: readonly string[]): string =>
  `(?:^|,)(?:(?:${names.join('|')})(?:,|$)|${droppedPrefix})|[^a-z0-9,-]`

const droppedList = listWith(droppedNames)
const checkedList = listWith([...checkedNames, ...droppedNames])
/** One name that is dropped. */
const droppedName = `^(?:(?:${droppedNames.join('|')})$|${droppedPrefix})|[^a-z0-9-]`
/** A path without a fragment. The router answers questions of authorities. */
const hotPath = String.raw`/(?!\.well-known/acme-challenge/)[^\#]*$`
/** The target of a request: a path, after scheme and authority over HTTP/2 and HTTP/3. */
const hotTarget = String.raw`^(?:[^/\#]*//[^/\#]*)?${hotPath}`

/**
 * Finds the line of a request and marks requests with headers that need a look. Each rule costs
 * time for every request, so usual requests meet few of them, and variables are rare.
 */
export const readingRules = ({ files, name }: Omit<RequestRules, 'trusts'>): string[] => [
  // HAProxy has rejected different Host headers and merged equal ones. This is the whole value.
  '  http-request set-var(txn.host) req.fhdr(host)',
  `  http-request set-var(txn.route) ${keys[name]},map_str(${files.maps[name]})`,
  // The line of one endpoint of a route with several. A missing one leads to the router.
  `  http-request set-var(txn.route) "rand(${shareCount}),concat(,txn.route),map_str(${files.maps.shares},-)"` +
    ' if { var(txn.route) -m beg \\# }',
  `  http-request set-var(txn.checked) bool(true) if { req.hdr_names -m reg ${checkedList} }`,
  '  acl checked var(txn.checked) -m found',
]

const keys = { plain: 'var(txn.host)', secure: 'ssl_fc_sni,concat(/,txn.host)' } as const

/** Removes the headers that endpoints must not get from clients. */
export const droppingRule =
  `  http-request del-header ${droppedName} -m reg if { var(txn.checked) -m found } ` +
  `{ req.hdr_names -m reg ${droppedList} }`

/** A usual request over HTTP/1.1. Nothing announces a body, so it has none. */
const overHttp1 = (name: string): string =>
  `  use_backend hot-${name} if !has_streams !checked has_route hot_path idle_safe`

/** A usual request over HTTP/2 or HTTP/3. */
const inStream = (name: string): string =>
  `  use_backend hot-${name} if has_streams !checked has_route hot_target idle_safe is_whole is_bare`

/**
 * Chooses the backend. A request whose reading leaves no choice is hot. The router decides
 * about all others. The first line that fits counts, so the most usual requests come first. HAProxy
 * leaves a line at its first condition that fails, so the protocol is asked for first.
 */
export const choosingRules = ({ name, trusts }: Omit<RequestRules, 'files'>): string[] => [
  // Other lines name a share that is missing. HAProxy finds beginnings faster than parts.
  `  acl has_route var(txn.route) -m beg ${[...Array(10).keys()].join(' ')}`,
  // A connection of HTTP/2 or HTTP/3.
  '  acl has_streams fc_http_major 2 3',
  '  acl is_path url -m beg /',
  '  acl is_path fc_http_major 2 3',
  `  acl hot_path url -m reg ^${hotPath}`,
  `  acl hot_target url -m reg ${hotTarget}`,
  '  acl idle_safe method GET HEAD OPTIONS TRACE',
  // In a stream a body may come without any header that announces it, and trailers without a body.
  '  acl is_whole internal.htx.has_eom',
  '  acl is_bare internal.htx_blk.type(tail) -m str HTX_BLK_EOH',
  '  acl connections req.fhdr_cnt(connection) gt 1',
  '  acl linked req.fhdr(connection) -m found',
  '  acl usual_link req.fhdr(connection) -m str -i keep-alive close',
  '  acl codings req.fhdr(transfer-encoding) -m found',
  '  acl expects req.fhdr(expect) -m found',
  '  acl upgrades req.fhdr(upgrade) -m found',
  '  acl passwords req.fhdr_cnt(authorization) gt 1',
  '  acl has_length req.fhdr(content-length) -m found',
  '  acl lengths req.fhdr_cnt(content-length) gt 1',
  `  acl fits req.hdr_val(content-length) le ${hotBodyBytes}`,
  // Calls of gRPC reach the router over HTTP/2. Their routes have no line.
  '  acl calls req.fhdr(content-type) -m beg application/grpc',
  ...(trusts ? ['  use_backend own-calls if trusted has_streams calls', '  use_backend own if trusted'] : []),
  ...(name === 'plain' ? [overHttp1(name), inStream(name)] : [inStream(name), overHttp1(name)]),
  '  use_backend own-calls if !has_route has_streams calls',
  '  use_backend own if codings or expects or upgrades or passwords or connections or linked !usual_link',
  '  use_backend own if lengths or has_length !fits or !has_length !is_whole or !has_length !is_bare',
  '  use_backend own if { method CONNECT }',
  `  use_backend hot-${name} if has_route is_path hot_target idle_safe !has_length`,
  `  use_backend once-${name} if has_route is_path hot_target`,
  '  default_backend own',
]
