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
  /** Holds the database; made when missing. */
  readonly directory: string
  readonly log: Logger
  /** Aborts the start; a PostgreSQL that has started is ended by `stop`. */
  readonly signal: AbortSignal
  readonly sizes?: Partial<Sizes>
  readonly clock?: Clock
  /** Notified of each process that is started, before it is ready. */
  readonly spawned?: (pid: number) => void
}

export interface EmbeddedDatabase {
  /** For `openDatabase`, and for any client of libpq: the socket's directory is the parameter `host`. */
  readonly url: string
  /** Of the PostgreSQL package. */
  readonly version: string
  /** Where the data really is: `directory`, or a place below /var/lib/quayside (see place.ts). */
  readonly home: string
  /** Of the postmaster; changes when it was started again. */
  pid(): number
  /** Starts PostgreSQL again whenever it died, until the signal is aborted. Ends then without an error. Never makes a new database. */
  watch(signal: AbortSignal): Promise<void>
  /** Ends PostgreSQL. Abort `watch` first. */
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
 * Starts the PostgreSQL that comes with Quayside, or takes over the one that already runs on the directory: it survives a server
 * that was killed. Listens on a socket that only its own user and root can reach, never on the network. No backup is made here.
 * Throws AppError `unavailable` with what to do when it cannot run.
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

/** Where the database in `directory` answers while a server keeps it running. Starts nothing. */
export const embeddedUrl = async (directory: string): Promise<string> =>
  urlOf(await preparePlace(directory, await databaseUser(AbortSignal.timeout(10_000))))

const urlOf = ({ sockets }: Place): string =>
  `postgres://${superuser}@localhost/postgres?host=${encodeURIComponent(sockets)}`

const logOf = (place: Place): string => join(place.home, 'postgresql.log')

/** Under a lock: two servers on one directory start one PostgreSQL. `create` as in ClusterOptions. */
function launchOrAdopt(launch: Launch, create: boolean, signal: AbortSignal): Promise<number> {
  const { place, log, clock, user } = launch
  return exclusively(
    `postgresql ${place.home}`,
    async () => {
      const startedAt = clock.monotonic()
      const running = await findPostmaster(place.cluster)
      if (running && (await isOurs(running, launch))) {
        await untilReady(running.pid, launch, signal)
        log.info({ pid: running.pid }, 'running PostgreSQL was taken over')
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

/** The same program and the same socket; otherwise it was started by another version of Quayside or by hand. */
async function isOurs(running: { pid: number; sockets: string }, { place, binaries }: Launch): Promise<boolean> {
  const program = await readlink(`/proc/${running.pid}/exe`).catch(() => '')
  return running.sockets === place.sockets && program === (await realpath(binaries.postgres))
}

/** Of processes that are killed one after the other before they are ready. */
const mostLaunches = 5

/** A PostgreSQL that was killed before it was ready is started again, a few times. */
async function launchUntilReady(launch: Launch, signal: AbortSignal): Promise<number> {
  const { place, clock, log, spawned } = launch
  for (let left = mostLaunches; ; left--) {
    await clearRemains(place)
    const { pid, wasKilled } = await launchPostmaster(launch)
    spawned(pid)
    try {
      await untilReady(pid, launch, signal)
      return pid
    } catch (error) {
      // Told to stop meanwhile: nobody else knows of it.
      if (signal.aborted) await stopPostmaster(pid, place.cluster, clock)
      if (signal.aborted || left <= 1 || !wasKilled()) throw error
      log.warn({ pid }, 'PostgreSQL was killed before it was ready and is started again')
    }
  }
}

/** PostgreSQL gets a session of its own and the log as its output, so that it outlives this process. */
async function launchPostmaster({ place, binaries, user }: Launch): Promise<{ pid: number; wasKilled: () => boolean }> {
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
    await promise
    child.unref()
    if (child.pid === undefined) throw new Error('PostgreSQL has no process id')
    return { pid: child.pid, wasKilled: () => child.signalCode === 'SIGKILL' }
  } finally {
    await log.close()
  }
}

/** Recovery after a crash takes as long as it takes: waits while the process lives, five minutes at most. */
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
    `PostgreSQL did not start on ${place.cluster}. Its log, ${logOf(place)}, ends with:\n${await tailOfServerLog(logOf(place))}`,
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
      await rotateServerLog(logOf(place)).catch((err) => log.warn({ err }, 'log of PostgreSQL was not rotated'))
      continue
    }
    log.warn({ pid: pid.get() }, 'PostgreSQL died and is started again')
    try {
      pid.set(await launchOrAdopt(launch, false, signal))
    } catch (err) {
      if (signal.aborted) return
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      log.error({ err, retryInMs: pauseMs }, 'PostgreSQL could not be started')
    }
  }
}
