import type { Dispatcher } from 'undici'
import type { ClientRequest } from './client-message.ts'
import { isIdentityName } from './identity-headers.ts'
import { limits } from './limits.ts'
import { isPassedName } from './request-head.ts'

/** The trailers of a request are larger than the router passes on. */
export class TrailersTooLarge extends Error {
  override readonly name = 'TrailersTooLarge'
  readonly code = 'TRAILERS_TOO_LARGE'
}

/** The trailers that a request has announced and its endpoint may get. */
export interface RequestTrailers {
  /** The value of the header `Trailer` for the endpoint. */
  readonly names: string
  /**
   * Returns names and values in turn, once the body has ended. Throws `TrailersTooLarge`.
   */
  read(): readonly string[]
}

/** A request for an endpoint. */
export interface DispatchOptions extends Dispatcher.DispatchOptions {
  /** The trailers after its body. Undefined for most requests. */
  readonly trailers?: RequestTrailers | undefined
}

/**
 * Names that an endpoint reads before the body: they choose how a message is read, where it goes,
 * who sends it, or under which conditions it counts (RFC 9110, 6.5.1). Programs that join trailers
 * with headers must not meet them.
 */
const earlyNames = new Set([
  ...['accept', 'cache-control', 'cookie', 'cookie2', 'expires', 'from', 'max-forwards', 'origin', 'pragma', 'range'],
  ...['referer', 'set-cookie', 'set-cookie2', 'user-agent', 'www-authenticate', 'upgrade-insecure-requests', 'via'],
])
const earlyPrefixes = [
  ...['accept-', 'access-control-', 'content-', 'if-', 'proxy-', 'sec-', 'cf-', 'remote-', 'x-auth-', 'x-real-'],
  ...['x-http-method', 'x-method-', 'x-original-', 'x-rewrite-'],
]
/** Sums of a body, which a sender knows only at its end (RFC 9530). */
const sums = new Set(['content-digest', 'content-md5'])

/**
 * Returns the announced trailers of a request with a body of unknown length. Undefined if none may
 * pass. `headers` are the ones that the endpoint gets: no trailer may have the name of one.
 */
export function announcedTrailers(request: ClientRequest, headers: readonly string[]): RequestTrailers | undefined {
  const { trailer, 'content-length': length } = request.headers
  // A body of known length has no trailers in HTTP/1.1.
  if (trailer === undefined || length !== undefined) return undefined
  const taken = new Set(headers.map((name, index) => (index % 2 === 0 ? name.toLowerCase() : '')))
  const listed = trailer.split(',', limits.trailerNames).map((name) => name.trim().toLowerCase())
  const names = new Set(listed.filter((name) => isTrailerName(name) && !taken.has(name)))
  if (names.size === 0) return undefined
  return { names: [...names].join(', '), read: () => readTrailers(request.rawTrailers, names) }
}

const isTrailerName = (lower: string): boolean =>
  isPassedName(lower) &&
  !earlyNames.has(lower) &&
  !isIdentityName(lower) &&
  (sums.has(lower) || !earlyPrefixes.some((prefix) => lower.startsWith(prefix)))

function readTrailers(raw: readonly string[], names: ReadonlySet<string>): readonly string[] {
  const passed: string[] = []
  let bytes = 0
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index], raw[index + 1]]
    if (!names.has(name.toLowerCase())) continue
    bytes += name.length + value.length + ': \r\n'.length
    if (bytes > limits.trailerBytes) throw new TrailersTooLarge(`more than ${limits.trailerBytes} bytes of trailers`)
    passed.push(name, value)
  }
  return passed
}
