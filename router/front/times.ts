/**
 * How HAProxy reports the times of requests that it carries, and the requests that it cannot count
 * by their responses: as lines of a ring in its memory, which the router reads over the admin
 * socket. A full ring overwrites its oldest lines, so a router that is away costs nothing but
 * these.
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
/** The server that is the router. It counts and measures its requests itself. */
export const routerServer = 'own'

/** Of the section of the ring. A line has at most 120 bytes. */
export const ringSection: readonly string[] = [`ring ${ring}`, '  format raw', '  maxlen 128', '  size 262144']

/** Of a frontend: the line of each request that is not silent. */
export const timeLines: readonly string[] = [
  `  log ring@${ring} format raw local0`,
  `  log-format "%s %ts %ST %[var(txn.route)] %Tw %Tc %Tr %Td %Ta %[var(txn.weight)]"`,
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

/** The facts of one request in a line, or of several like it. Times are milliseconds. */
export type CarriedLine = Whole | Unanswered

interface Line {
  /** The key of the endpoint. */
  readonly endpoint: string
  /** How many requests this one stands for. */
  readonly weight: number
  /** From the whole head of the request to the last byte of its response, or to its end. */
  readonly wholeMs: number
}

/** A request that was carried to its regular end. HAProxy counts its status by endpoint. */
interface Whole extends Line {
  /** From the whole head of the request to the head of its response. */
  readonly firstByteMs: number
}

/** A request without a response of its endpoint. HAProxy counts none for it. */
interface Unanswered extends Line {
  /** The status of HAProxy's own answer. 499 if the client left before, 502 without an answer. */
  readonly status: number
}

const form = /^(\S+) (\S+) (-?\d+) (\d+\.\d+\.\d+\.\d+:\d+:[\w-]+) (-?\d+) (-?\d+) (-?\d+) (-?\d+) (-?\d+) (\d+|-)$/

/**
 * Reads a line. Undefined for a request that came to the router, and for one whose response was
 * broken off.
 */
export function parseLine(line: string): CarriedLine | undefined {
  const [, server, ending = '', status, endpoint, ...figures] = form.exec(line) ?? []
  if (server === routerServer || endpoint === undefined) return undefined
  const [waited = 0, connected = 0, answered = 0, sent = 0, whole = 0, weight = 1] = figures.map(Number)
  // A request that HAProxy refuses has a line in any case, and no weight yet.
  const facts = { endpoint, weight: Number.isNaN(weight) ? 1 : weight }
  if (answered < 0) {
    const own = Number(status) < 400 ? 502 : Number(status)
    return { ...facts, wholeMs: Math.max(whole, 0), status: ending.startsWith('C') ? 499 : own }
  }
  if (server !== carrier || ending !== '--') return undefined
  const firstByteMs = waited + connected + answered
  return { ...facts, firstByteMs, wholeMs: firstByteMs + sent }
}
