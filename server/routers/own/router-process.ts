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

/** The files of a router process. */
interface RouterFiles {
  readonly controlSocket: string
  /** The file that stores the route table, so the process can start without the control plane. */
  readonly stateFile: string
  /** The file that receives the output of the process. */
  readonly logFile: string
  /** The folder for compiled code, which saves later starts 20 MB of memory. It can be shared. */
  readonly cacheFolder?: string
}

export interface RouterProcessOptions extends RouterFiles {
  /** The address on which the router listens. */
  readonly host: string
  /** 0 means any free port. */
  readonly port: number
  /** Networks whose `X-Forwarded-*` headers are trusted. None by default. */
  readonly trusted?: readonly string[]
  /** The most connections of each port, and of one client among them. */
  readonly connections?: { readonly total: number; readonly perClient: number }
  /** Called for each started process, before it answers. */
  readonly spawned?: (pid: number) => void
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

export interface RouterProcess {
  readonly pid: number
  /** The port on which the router listens. */
  readonly port: number
  /** Whether the process was already running. */
  readonly adopted: boolean
}

/** The values that a process of this version reports in `GET /health`. */
const protocol = 8
/** The first version that shares its port with its successor. */
const sharingSince = 7
const portInUse = 98
const answerMs = 2_000
const startMs = 15_000
/** A started process may take this long to answer if the caller no longer wants it. */
const afterAbortMs = 5_000
/** The most starts in a row of processes that are killed. */
const mostStarts = 5
/** A process that must end completes open requests for at most 30 s. */
const endMs = 35_000
const program = fileURLToPath(new URL('../../../router/main.ts', import.meta.url))

/**
 * Finds the router process that serves this host and port, or starts one that outlives the caller.
 * A process of another version on the same address ends once its successor listens beside it, so no
 * connection is refused. A process with another address ends first. An interrupted call can be
 * repeated. Concurrent calls for one control socket run one after the other, because each would
 * start a process. Throws `unavailable` if the port is taken or the process does not start.
 */
export function ensureRouterProcess(options: RouterProcessOptions): Promise<RouterProcess> {
  const { controlSocket, signal } = options
  const found = (turns.get(controlSocket) ?? Promise.resolve()).then(() => {
    signal?.throwIfAborted()
    return findOrStart(options)
  })
  // The caller gets the error. The next call takes its turn all the same.
  const turn = found.then(nothing, nothing).finally(() => {
    if (turns.get(controlSocket) === turn) turns.delete(controlSocket)
  })
  turns.set(controlSocket, turn)
  return found
}

/** The last call of this process for each control socket. */
const turns = new Map<string, Promise<void>>()
const nothing = (): void => {}

async function findOrStart(options: RouterProcessOptions): Promise<RouterProcess> {
  const running = await findRouter(options)
  if (running && serves(running, options)) return { pid: running.pid, port: running.port, adopted: true }
  const waiting = await findSuccessor(options)
  if (waiting) return { ...(await takeOver(options, running, waiting)), adopted: true }
  if (running && mayShare(running, options)) {
    // A separate socket name is needed: closing a socket removes the path under which it was
    // opened, even if another socket has that path by now.
    const name = `${successorPrefix}${randomBytes(2).toString('hex')}`
    const controlSocket = join(dirname(options.controlSocket), name)
    const started = await startRouter({ ...options, controlSocket }, ['--share'])
    return { ...(await takeOver(options, running, { ...started, controlSocket })), adopted: false }
  }
  if (running) await endRouter(options)
  const { pid, port } = await startRouter(options)
  return { pid, port, adopted: false }
}

/** The prefix of a successor's socket name. It is short because socket paths are limited. */
const successorPrefix = 'next-'

type Successor = Health & { readonly controlSocket: string }

/**
 * Returns the successor left by an interrupted hand-over. Ends it if it cannot be used any longer.
 */
async function findSuccessor(options: RouterProcessOptions): Promise<Successor | undefined> {
  const dir = dirname(options.controlSocket)
  // The directory does not exist before the first start.
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

/** Makes the running process release its address at once and end when its open requests end. */
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
 * Returns undefined if nothing listens on the control socket. Throws `unavailable` if something
 * listens but does not answer.
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
 * Whether nothing listens: the socket file is missing, a dead process left it, or its process ended
 * during the request.
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
 * Retries the start a few times if the process is killed before it answers. The kill may have been
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
    options.signal?.throwIfAborted()
    if ('pid' in outcome) return outcome
    // Another control plane may have started one at the same time.
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

/**
 * Starts one process and waits until it answers or ends. An abort does not interrupt this wait,
 * because a process that does not answer yet cannot be found by anybody who wants to end it. Kills
 * the process if it does not answer before `end`, or soon after an abort.
 */
async function startOnce(
  options: RouterProcessOptions,
  more: readonly string[],
  end: number,
): Promise<Health | NotStarted> {
  const { controlSocket, signal, clock = systemClock } = options
  const child = spawnRouter(options, more)
  let failure: unknown
  child.once('error', (error) => {
    failure = error
  })
  let last = end
  const shorten = (): void => {
    last = Math.min(end, clock.monotonic() + afterAbortMs)
  }
  signal?.addEventListener('abort', shorten, { once: true })
  if (child.pid !== undefined) options.spawned?.(child.pid)
  try {
    while (clock.monotonic() < last) {
      if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) break
      const found = await findRouter({ controlSocket })
      if (found) return found
      await clock.sleep(20)
    }
  } finally {
    signal?.removeEventListener('abort', shorten)
  }
  const { exitCode, signalCode } = child
  child.kill('SIGKILL')
  return { exitCode, wasKilled: signalCode !== null, failure }
}

function spawnRouter(options: RouterProcessOptions, more: readonly string[]): ReturnType<typeof start> {
  const log = openSync(options.logFile, 'a', 0o600)
  const child = start(process.execPath, [...commandLine(options), ...more], {
    stdio: ['ignore', log, log],
    env: options.cacheFolder ? { NODE_COMPILE_CACHE: options.cacheFolder } : {},
  })
  closeSync(log)
  child.unref()
  return child
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
