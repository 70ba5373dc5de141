import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { start } from '../../lib/run.ts'
import { askRouter } from './control.ts'

export interface RouterProcessOptions {
  /** Where applications answer. */
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly controlSocket: string
  /** File that keeps the route table, so that the process can start without the control plane. */
  readonly stateFile: string
  /** File that takes what the process writes. */
  readonly logFile: string
  /** Folder for compiled code: a second start needs 20 MB less memory. */
  readonly cacheFolder?: string
  /** Networks whose `X-Forwarded-*` are believed; default none. */
  readonly trusted?: readonly string[]
  /** Connections of each port, and of one client among them. */
  readonly connections?: { readonly total: number; readonly perClient: number }
  /** Notified of each process that is started, before it answers. */
  readonly spawned?: (pid: number) => void
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

export interface RouterProcess {
  readonly pid: number
  /** Where applications answer. */
  readonly port: number
  /** Whether it ran already. */
  readonly adopted: boolean
}

/** What the process must say about itself in `GET /health` to be one of this version. */
const protocol = 8
/** From this one on a router shares its port with the one that takes over. */
const sharingSince = 7
const portInUse = 98
const answerMs = 2_000
const startMs = 15_000
/** Of processes that are killed one after the other. */
const mostStarts = 5
/** A process that has to go finishes what is open for at most 30 s. */
const endMs = 35_000
const program = fileURLToPath(new URL('../../../router/main.ts', import.meta.url))

/**
 * Finds the router process that already serves this host and port, or starts one that outlives the
 * caller. One of another version on the same address ends once its successor listens beside it, so
 * that nobody is refused; one with another address is ended first, in order. May be repeated
 * wherever it was cut off. Throws `unavailable` when the port is taken or the process does not come
 * up.
 */
export async function ensureRouterProcess(options: RouterProcessOptions): Promise<RouterProcess> {
  const running = await findRouter(options)
  if (running && serves(running, options)) return { pid: running.pid, port: running.port, adopted: true }
  const waiting = await findSuccessor(options)
  if (waiting) return { ...(await takeOver(options, running, waiting)), adopted: true }
  if (running && mayShare(running, options)) {
    // A name of its own: whoever closes a socket removes the name under which it was opened,
    // whatever is there by then.
    const name = `${successorPrefix}${randomBytes(2).toString('hex')}`
    const controlSocket = join(dirname(options.controlSocket), name)
    const started = await startRouter({ ...options, controlSocket }, ['--share'])
    return { ...(await takeOver(options, running, { ...started, controlSocket })), adopted: false }
  }
  if (running) await endRouter(options)
  const { pid, port } = await startRouter(options)
  return { pid, port, adopted: false }
}

/** Of its socket, beside the other one; short, for paths of sockets are. */
const successorPrefix = 'next-'

type Successor = Health & { readonly controlSocket: string }

/**
 * The one that waits beside the running one since somebody was cut off here; what does not serve
 * any more is ended.
 */
async function findSuccessor(options: RouterProcessOptions): Promise<Successor | undefined> {
  const dir = dirname(options.controlSocket)
  // Before the first start there is no such directory.
  const names = (await readdir(dir).catch(() => [])).filter((name) => name.startsWith(successorPrefix))
  let found: Successor | undefined
  for (const controlSocket of names.map((name) => join(dir, name))) {
    const one = await findRouter({ ...options, controlSocket })
    if (one && !found && serves(one, options)) found = { ...one, controlSocket }
    else if (one) await endRouter({ ...options, controlSocket })
    else await rm(controlSocket, { force: true })
  }
  return found
}

/** The running one gives its address up at once and ends when what is open on it has ended. */
async function takeOver(
  options: RouterProcessOptions,
  running: Health | undefined,
  { pid, port, controlSocket }: Successor,
): Promise<Pick<RouterProcess, 'pid' | 'port'>> {
  if (running) await endRouter(options)
  await rename(controlSocket, options.controlSocket)
  return { pid, port }
}

const mayShare = (running: Health, { host, port }: RouterProcessOptions): boolean =>
  Number(running.protocol) >= sharingSince && !running.closing && running.host === host && running.port === port

const serves = (running: Health, { host, port, trusted = [], connections }: RouterProcessOptions): boolean =>
  running.protocol === protocol &&
  !running.closing &&
  running.host === host &&
  (port === 0 || running.port === port) &&
  running.trusted === trusted.join() &&
  (connections === undefined || isDeepStrictEqual(running.connections, connections))

interface Health {
  readonly pid: number
  readonly host: string
  readonly port: number
  readonly protocol: unknown
  readonly trusted: string
  readonly connections: unknown
  readonly closing: boolean
}

/**
 * Undefined: nobody listens on the control socket. Throws `unavailable` when somebody does but
 * gives no answer.
 */
export async function findRouter({
  controlSocket,
  signal,
}: Pick<RouterProcessOptions, 'controlSocket' | 'signal'>): Promise<Health | undefined> {
  const question = { method: 'GET', path: '/health', timeoutMs: answerMs, ...(signal && { signal }) } as const
  try {
    const { pid, host, port, trusted, connections, protocol, closing } = (await askRouter(controlSocket, question)).body
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof port !== 'number') {
      throw new Error(`what listens on ${controlSocket} is not a router`)
    }
    return { pid, host, port, protocol, trusted: String(trusted), connections, closing: closing === true }
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/**
 * Nobody is there: no socket file, one that a dead process left, or one whose process ended during
 * the question.
 */
function isAbsence(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ECONNRESET'
}

async function endRouter(options: RouterProcessOptions): Promise<void> {
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

/**
 * Starts the router again, a few times, if it is killed before it answers: the kill may have been
 * meant for another process.
 */
async function startRouter(options: RouterProcessOptions, more: readonly string[] = []): Promise<Health> {
  const { clock = systemClock } = options
  for (const path of [options.controlSocket, options.stateFile, options.logFile]) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  }
  const end = clock.monotonic() + startMs
  for (let left = mostStarts; ; left--) {
    const outcome = await startOnce(options, more, end)
    if ('pid' in outcome) return outcome
    // Another control plane may have started one at the same moment.
    const other = await findRouter(options)
    if (other && serves(other, options)) return other
    if (!outcome.wasKilled || left <= 1 || clock.monotonic() >= end) throw await notStarted(options, outcome)
  }
}

interface NotStarted {
  readonly exitCode: number | null
  readonly wasKilled: boolean
  readonly failure: unknown
}

/** Starts one process and waits until it answers, ends, or `end` is reached. */
async function startOnce(
  options: RouterProcessOptions,
  more: readonly string[],
  end: number,
): Promise<Health | NotStarted> {
  const { signal, clock = systemClock } = options
  const log = openSync(options.logFile, 'a', 0o600)
  const child = start(process.execPath, [...commandLine(options), ...more], {
    stdio: ['ignore', log, log],
    env: options.cacheFolder ? { NODE_COMPILE_CACHE: options.cacheFolder } : {},
  })
  closeSync(log)
  child.unref()
  let failure: unknown
  child.once('error', (error) => {
    failure = error
  })
  if (child.pid !== undefined) options.spawned?.(child.pid)
  while (clock.monotonic() < end) {
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) break
    const found = await findRouter(options)
    if (found) return found
    await clock.sleep(20, signal)
  }
  return { exitCode: child.exitCode, wasKilled: child.signalCode !== null, failure }
}

function commandLine(options: RouterProcessOptions): string[] {
  const { host, port, controlSocket, stateFile, trusted = [], connections } = options
  const flags = ['--host', host, '--port', String(port), '--control', controlSocket, '--state', stateFile]
  if (trusted.length > 0) flags.push('--trusted', trusted.join(','))
  if (connections) {
    flags.push('--connections', String(connections.total), '--connections-per-client', String(connections.perClient))
  }
  return ['--max-semi-space-size=4', program, ...flags]
}

async function notStarted(options: RouterProcessOptions, { exitCode, failure: cause }: NotStarted): Promise<AppError> {
  if (exitCode === portInUse) {
    const where = `Port ${options.port} on ${options.host}, where applications are to answer, is in use`
    return new AppError(
      'unavailable',
      `${where}. End the program that uses it or set QUAYSIDE_ROUTER_PORT to another port.`,
    )
  }
  const log = await readFile(options.logFile, 'utf8').catch(() => '')
  return new AppError('unavailable', `The router process did not start; see ${options.logFile}.`, {
    cause,
    details: { exitCode, log: log.slice(-2_000) },
  })
}
