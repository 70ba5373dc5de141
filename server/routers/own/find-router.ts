import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { askRouter } from './control.ts'
import type { RouterProcessOptions } from './router-process.ts'

/** The values that a process of this version reports in `GET /health`. */
const protocol = 25
const answerMs = 2_000
/** A process that must end completes open requests for at most 30 s. */
const endMs = 35_000

/** The report of a router process. */
export interface Health {
  readonly pid: number
  readonly host: string
  readonly port: number
  /** Undefined if it speaks HTTP only. */
  readonly tlsPort: number | undefined
  /** The ports that clients use, if they are others. */
  readonly publicPort: unknown
  readonly publicTlsPort: unknown
  readonly protocol: unknown
  readonly trusted: string
  readonly proxies: string
  readonly connections: unknown
  /** The program in front of it. Undefined if it serves clients itself. */
  readonly haproxy: unknown
  /** Whether that program is to serve HTTP/3. */
  readonly http3: unknown
  /** The process of that program, if one runs. */
  readonly haproxyPid: unknown
  readonly closing: boolean
}

/**
 * Returns undefined if nothing listens on the control socket. Throws `unavailable` if something
 * listens but does not answer.
 */
export async function findRouter({
  controlSocket,
  signal,
}: Pick<RouterProcessOptions, 'controlSocket' | 'signal'>): Promise<Health | undefined> {
  const question = { method: 'GET', path: '/health', timeoutMs: answerMs, ...(signal && { signal }) } as const
  try {
    const { body } = await askRouter(controlSocket, question)
    const { pid, host, port, tlsPort: tls, connections, protocol } = body
    const { haproxy, haproxyPid, http3 } = body
    const { publicPort, publicTlsPort } = body
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof port !== 'number') {
      throw new Error(`what listens on ${controlSocket} is not a router`)
    }
    const tlsPort = typeof tls === 'number' ? tls : undefined
    const [trusted, proxies, closing] = [String(body['trusted']), String(body['proxies']), body['closing'] === true]
    const clients = { publicPort, publicTlsPort, trusted, proxies, connections }
    return { pid, host, port, tlsPort, protocol, ...clients, closing, haproxy, haproxyPid, http3 }
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** The last two: the process ended after or while the question was sent. */
const absences = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'])

/**
 * Whether nothing listens: the socket file is missing, a dead process left it, or its process ended
 * during the request.
 */
function isAbsence(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' && absences.has(code)
}

/** Asks a router process to end, and waits for it. Throws `unavailable` if it does not end. */
export async function endRouter(options: RouterProcessOptions): Promise<void> {
  const { controlSocket, signal, clock = systemClock } = options
  const question = { method: 'POST', path: '/shutdown', timeoutMs: answerMs, ...(signal && { signal }) } as const
  await askRouter(controlSocket, question).catch((error: unknown) => {
    if (!isAbsence(error)) throw error
  })
  const end = clock.monotonic() + endMs
  while (await findRouter(options)) {
    if (clock.monotonic() > end) {
      throw new AppError('unavailable', 'The running router process did not end; end it by hand and start again.')
    }
    await clock.sleep(50, signal)
  }
}

/** Whether a running process serves these options, and does so in this version. */
export const serves = (running: Health, options: RouterProcessOptions): boolean =>
  hasAddress(running, options) && isCurrent(running, options)

/** Whether a process listens where these options say. */
export const hasAddress = (running: Health, { host, port, tls }: RouterProcessOptions): boolean =>
  running.host === host && isPort(running.port, port) && isPort(running.tlsPort, tls?.port)

/** 0 stands for any port. */
const isPort = (actual: number | undefined, wanted: number | undefined): boolean =>
  wanted === 0 ? actual !== undefined : actual === wanted

const isCurrent = (
  running: Health,
  { trusted = [], proxies = [], connections, haproxy, http3 = false, publicPorts = {} }: RouterProcessOptions,
): boolean =>
  running.protocol === protocol &&
  !running.closing &&
  running.trusted === trusted.join() &&
  running.proxies === proxies.join() &&
  running.haproxy === haproxy &&
  (haproxy === undefined || running.http3 === http3) &&
  running.publicPort === publicPorts.port &&
  running.publicTlsPort === publicPorts.tlsPort &&
  (connections === undefined || isDeepStrictEqual(running.connections, connections))
