/**
 * How HAProxy tells the times of requests that it carries: as lines of a ring in its memory, which
 * the router reads over the admin socket. A full ring overwrites its oldest lines, so a router that
 * is away costs nothing but their times.
 */

/** The name of the ring. */
export const ring = 'times'
/**
 * Up to so many requests a second of a frontend all have a line. Of more, about so many have one,
 * chosen by chance. A line costs CPU of HAProxy, and of the router that reads it.
 */
const linesPerSecond = 200
/** The server of a request that HAProxy carried alone, as its backends name it. */
export const carrier = 'direct'

/** Of the section of the ring. A line has at most 90 bytes. */
export const ringSection: readonly string[] = [`ring ${ring}`, '  format raw', '  maxlen 128', '  size 262144']

/** Of a frontend: the line of each request that is not silent. */
export const timeLines: readonly string[] = [
  `  log ring@${ring} format raw local0`,
  `  log-format "%s %ts %[var(txn.route)] %Tw %Tc %Tr %Td %[var(txn.weight)]"`,
]

/** Of a backend whose requests have no line, because the router measures them. */
export const silentRule = '  http-request set-log-level silent'

/** The rate that the table of endpoints keeps for `timeRules`. */
export const rateOfEndpoint = 'http_req_rate(10s)'
/** Requests to an endpoint with fewer in ten seconds all have a line, whatever others have. */
const fewRequests = 20

/**
 * Of a backend whose requests HAProxy carries for this frontend, once `sc1` counts them at their
 * endpoint.
 */
export const timeRules = (frontend: string): readonly string[] => [
  `  http-request set-var(txn.weight) fe_req_rate(${frontend}),div(${linesPerSecond}),add(1)`,
  `  http-request set-var(txn.weight) int(1) if { sc1_http_req_rate lt ${fewRequests} }`,
  `${silentRule} if { rand(1048576),mod(txn.weight) gt 0 }`,
]

/** The times of one request, or of several like it. */
export interface CarriedTimes {
  /** `address:port`. */
  readonly endpoint: string
  /** Milliseconds from the whole head of the request to the head of its response. */
  readonly firstByteMs: number
  /** The same to the last byte of its response. */
  readonly wholeMs: number
  /** How many requests this one stands for. */
  readonly weight: number
}

const form = /^(\S+) (\S+) (\d+\.\d+\.\d+\.\d+:\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/

/**
 * Reads a line. Undefined for a request that HAProxy did not carry to its regular end alone: the
 * router measures those that come to it.
 */
export function parseTimes(line: string): CarriedTimes | undefined {
  const [, server, ending, endpoint, waited, connected, answered, sent, weight] = form.exec(line) ?? []
  if (server !== carrier || ending !== '--' || endpoint === undefined) return undefined
  const firstByteMs = Number(waited) + Number(connected) + Number(answered)
  return { endpoint, firstByteMs, wholeMs: firstByteMs + Number(sent), weight: Number(weight) }
}
