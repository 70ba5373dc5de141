import { readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { start } from '../lib/run.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { prepareCluster, superuser } from './cluster.ts'
import { type DatabaseUser, databaseUser } from './database-user.ts'
import { exclusively } from './exclusive.ts'
import { removeLeftSegments } from './left-segments.ts'
import { type Place, preparePlace, systemDirectory } from './place.ts'
import { clearRemains, findPostmaster, serves, stopPostmaster } from './postmaster.ts'
import { openServerLog, rotateServerLog, tailOfServerLog } from './server-log.ts'
import type { Sizes } from './settings.ts'

export interface EmbeddedOptions {
  /** The directory of the database. Created if it does not exist. */
  readonly directory: string
  readonly log: Logger
  /** Aborts the start. A PostgreSQL that has started is ended by `stop`. */
  readonly signal: AbortSignal
  readonly sizes?: Partial<Sizes>
  readonly clock?: Clock
  /** Called with each started process before it is ready. */
  readonly spawned?: (pid: number) => void
}

export interface EmbeddedDatabase {
  /** For `openDatabase` and any client of libpq: the parameter `host` is the socket's directory. */
  readonly url: string
  /** The version of the PostgreSQL package. */
  readonly version: string
  /**
   * The actual directory of the data: `directory`, or one below /var/lib/quayside (see place.ts).
   */
  readonly home: string
  /** The process id of the postmaster. It changes with every restart. */
  pid(): number
  /**
   * Restarts PostgreSQL whenever it dies, until the signal is aborted. Then it returns without an
   * error. It never creates a new database.
   */
  watch(signal: AbortSignal): Promise<void>
  /** Stops PostgreSQL. Abort `watch` first. */
  stop(): Promise<void>
}

interface Launch {
  readonly place: Place
  readonly binaries: Binaries
  readonly user: DatabaseUser | undefined
  readonly sizes: Sizes
  readonly log: Logger
  readonly clock: Clock
  readonly spawned: (pid: number) => void
}

const usualSizes: Sizes = { durable: true, maxConnections: 40, sharedBuffersMb: 32 }

/**
 * Starts Quayside's own PostgreSQL, or adopts the one that already runs on the directory, because
 * it survives a killed server. It listens on a socket that only its user and root can reach, never
 * on the network. It makes no backup. Throws AppError `unavailable` with the solution if it cannot
 * run.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const user = await databaseUser(options.signal)
  if (user?.name === 'nobody') options.log.warn('PostgreSQL runs as "nobody", which other programs may share')
  const place = await preparePlace(options.directory, user)
  const launch: Launch = {
    place,
    user,
    binaries: await findBinaries(user, user ? systemDirectory : place.home),
    sizes: { ...usualSizes, ...options.sizes },
    log: options.log,
    clock: options.clock ?? systemClock,
    spawned: options.spawned ?? (() => {}),
  }
  let pid = await launchOrAdopt(launch, true, options.signal)
  return {
    url: urlOf(place),
    version: launch.binaries.version,
    home: place.home,
    pid: () => pid,
    watch: (signal) => watch(launch, signal, { get: () => pid, set: (next) => (pid = next) }),
    stop: () => stopPostmaster(pid, place.cluster, launch.clock),
  }
}

/**
 * Returns the URL of the database in `directory` while a server keeps it running. Starts nothing.
 */
export const embeddedUrl = async (directory: string): Promise<string> =>
  urlOf(await preparePlace(directory, await databaseUser(AbortSignal.timeout(10_000))))

const urlOf = ({ sockets }: Place): string =>
  `postgres://${superuser}@localhost/postgres?host=${encodeURIComponent(sockets)}`

const logOf = (place: Place): string => join(place.home, 'postgresql.log')

/**
 * Runs under a lock, so that two servers on one directory start one PostgreSQL. `create` as in
 * ClusterOptions.
 */
function launchOrAdopt(launch: Launch, create: boolean, signal: AbortSignal): Promise<number> {
  const { place, log, clock, user } = launch
  return exclusively(
    `postgresql ${place.home}`,
    async () => {
      const startedAt = clock.monotonic()
      const running = await findPostmaster(place.cluster)
      if (running && (await isOurs(running, launch))) {
        await untilReady(running.pid, launch, signal)
        log.info({ pid: running.pid }, 'adopted the running PostgreSQL')
        return running.pid
      }
      if (running) await stopPostmaster(running.pid, place.cluster, clock)
      await prepareCluster({ ...launch, create, signal })
      await removeLeftSegments(user?.uid ?? process.getuid?.() ?? 0, log)
      const pid = await launchUntilReady(launch, signal)
      log.info({ pid, ms: Math.round(clock.monotonic() - startedAt) }, 'PostgreSQL was started')
      return pid
    },
    { signal, clock },
  )
}

/**
 * Whether program and socket are the same. If not, another version of Quayside or a person started
 * it.
 */
async function isOurs(running: { pid: number; sockets: string }, { place, binaries }: Launch): Promise<boolean> {
  const program = await readlink(`/proc/${running.pid}/exe`).catch(() => '')
  return running.sockets === place.sockets && program === (await realpath(binaries.postgres))
}

/** Maximum number of consecutive processes that are killed before they are ready. */
const mostLaunches = 5

/** Restarts a PostgreSQL that was killed before it was ready, a few times. */
async function launchUntilReady(launch: Launch, signal: AbortSignal): Promise<number> {
  const { place, clock, log, spawned } = launch
  for (let left = mostLaunches; ; left--) {
    await clearRemains(place, clock)
    const { pid, wasKilled } = await launchPostmaster(launch)
    spawned(pid)
    try {
      await untilReady(pid, launch, signal)
      return pid
    } catch (error) {
      // Asked to stop meanwhile. Nobody else knows of this process.
      if (signal.aborted) await stopPostmaster(pid, place.cluster, clock)
      if (signal.aborted || left <= 1 || !(await wasKilled())) throw error
      log.warn({ pid }, 'PostgreSQL was killed before it was ready; restarting it')
    }
  }
}

interface Launched {
  readonly pid: number
  /** Returns whether the process has been killed. Waits a moment for the end of an ending one. */
  readonly wasKilled: () => Promise<boolean>
}

const endingMs = 5_000

/**
 * Starts PostgreSQL in its own session with the log as its output, so that it outlives this
 * process.
 */
async function launchPostmaster({ place, binaries, user, clock }: Launch): Promise<Launched> {
  await rotateServerLog(logOf(place))
  const log = await openServerLog(logOf(place))
  try {
    const args = ['-D', place.cluster, '-c', `config_file=${join(place.home, 'postgresql.conf')}`]
    const child = start(binaries.postgres, args, {
      cwd: '/',
      stdio: ['ignore', log.fd, log.fd],
      ...(user ? { user } : {}),
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    child.once('error', reject)
    child.once('spawn', resolve)
    const ended = new Promise<void>((end) => child.once('exit', () => end()))
    await promise
    child.unref()
    const { pid } = child
    if (pid === undefined) throw new Error('PostgreSQL has no process id')
    const wasKilled = async (): Promise<boolean> => {
      // A process that is ending loses its directory before its parent hears of its end.
      if (!(await serves(pid, place.cluster))) await Promise.race([ended, clock.sleep(endingMs)])
      return child.signalCode === 'SIGKILL'
    }
    return { pid, wasKilled }
  } finally {
    await log.close()
  }
}

/**
 * Waits while the process lives, for at most five minutes, because recovery after a crash may be
 * slow.
 */
async function untilReady(pid: number, { place, clock }: Launch, signal: AbortSignal): Promise<void> {
  const until = clock.monotonic() + 300_000
  while (clock.monotonic() < until) {
    const running = await findPostmaster(place.cluster)
    if (running?.pid === pid && running.ready) return
    if (!running && !(await stat(`/proc/${pid}/cwd/.`).catch(() => undefined))) break
    await clock.sleep(5, signal)
  }
  throw new AppError(
    'unavailable',
    `PostgreSQL did not start on ${place.cluster}. Its log, ${logOf(place)}, ends ` +
      `with:\n${await tailOfServerLog(logOf(place))}`,
  )
}

const checkEveryMs = 200
const longestPauseMs = 5_000
const rotateEveryMs = 60_000

async function watch(
  launch: Launch,
  signal: AbortSignal,
  pid: { readonly get: () => number; readonly set: (pid: number) => void },
): Promise<void> {
  const { place, log, clock } = launch
  let pauseMs = checkEveryMs
  let rotateAt = clock.monotonic() + rotateEveryMs
  while (!signal.aborted) {
    await clock.sleep(pauseMs, signal).catch(() => signal.aborted)
    if (signal.aborted) return
    if (await serves(pid.get(), place.cluster)) {
      pauseMs = checkEveryMs
      if (clock.monotonic() < rotateAt) continue
      rotateAt = clock.monotonic() + rotateEveryMs
      await rotateServerLog(logOf(place)).catch((err) => log.warn({ err }, "PostgreSQL's log could not be rotated"))
      continue
    }
    log.warn({ pid: pid.get() }, 'PostgreSQL died; restarting it')
    try {
      pid.set(await launchOrAdopt(launch, false, signal))
    } catch (err) {
      if (signal.aborted) return
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      log.error({ err, retryInMs: pauseMs }, 'PostgreSQL could not be started')
    }
  }
}
