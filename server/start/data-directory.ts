import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import {
  type Database,
  type EmbeddedOptions,
  exclusiveLock,
  isUsed,
  migrate,
  openDatabase,
  schemaState,
  startEmbedded,
} from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { replaceText } from './replace-text.ts'
import { refuseWithoutBackup, snapshotBefore } from './snapshot-at-start.ts'
import { StartError } from './start-error.ts'

type Sharing = Pick<Config, 'dataDirectory' | 'isDataShared' | 'port'>

/**
 * Tries to take the lock that a running server has: of its data directory, or of its port there if
 * servers share the directory. Returns undefined if it is taken.
 */
export const takeServerLock = ({ dataDirectory, isDataShared, port }: Sharing): ReturnType<typeof exclusiveLock> =>
  exclusiveLock(`data ${dataDirectory}`, isDataShared ? port : undefined)

/**
 * Takes the lock of a server for the life of this process. Throws StartError if another one has the
 * data directory for itself.
 */
export async function lockDataDirectory(config: Sharing, started: AsyncDisposableStack): Promise<void> {
  const lock = await takeServerLock(config)
  if (lock) return started.defer(async () => void lock.close())
  // Its port is in use, which the start reports when it listens.
  if (config.isDataShared) return
  const message = `The data directory ${config.dataDirectory} is in use by another server.`
  throw new StartError(`${message} Stop that server, or set QUAYSIDE_DATA to another directory.`)
}

/**
 * Stores the id of the installation in the data directory, for commands that have no database.
 * Throws StartError if the directory belongs to the database of another installation.
 */
export async function noteInstance({ dataDirectory, isDataShared }: Config, instance: string): Promise<void> {
  const file = join(dataDirectory, 'instance')
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (known === instance) return
  if (isDataShared && known !== '') {
    throw new StartError(
      `The data directory ${dataDirectory} belongs to the installation ${known}, and the database to ${instance}. ` +
        'Set QUAYSIDE_DATA and QUAYSIDE_DATABASE_URL to the same installation.',
    )
  }
  await replaceText(file, `${instance}\n`)
}

/** Tries the same, and returns whether this process has the lock. */
export async function tryLockDataDirectory({ dataDirectory }: Config, started: AsyncDisposableStack): Promise<boolean> {
  const lock = await exclusiveLock(`data ${dataDirectory}`)
  if (!lock) return false
  started.defer(async () => void lock.close())
  return true
}

/** Opens a pool on the database and migrates it. Its connections have this name. */
export async function openSchema(
  url: string,
  log: Logger,
  started: AsyncDisposableStack,
  name = 'quayside',
): Promise<Database> {
  const database = openDatabase({ url, name })
  started.defer(() => database.end({ timeout: 5 }))
  await migrate(database, { log })
  return database
}

/**
 * Returns the address of the database: that of the settings, or of the embedded PostgreSQL, which
 * then runs until the server stops. Before pending migrations it makes sure that they can be rolled
 * back, or throws a StartError without a change.
 */
export async function startDatabase(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  started: AsyncDisposableStack,
): Promise<string> {
  await refuseDuringRollback(config)
  const { databaseUrl } = config
  if (databaseUrl === undefined) return startOwnDatabase(config, log, signal, started)
  // A first start may have been interrupted, or another server is in the middle of it.
  if (config.snapshots && (await inSchema(databaseUrl, isUsed))) refuseWithoutBackup(await stateOf(databaseUrl))
  return databaseUrl
}

/** This file exists while a snapshot replaces the database, which may be missing meanwhile. */
export const rollbackFile = ({ dataDirectory }: Config): string => join(dataDirectory, 'rollback.json')

async function refuseDuringRollback(config: Config): Promise<void> {
  const file = rollbackFile(config)
  const isThere = await access(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      return false
    },
  )
  if (!isThere) return
  throw new StartError(
    `A rollback of the upgrade was interrupted: ${file} exists. Run "npm run rollback-upgrade" again, which ` +
      'goes on where it was.',
  )
}

async function startOwnDatabase(
  config: Config,
  log: Logger,
  signal: AbortSignal,
  started: AsyncDisposableStack,
): Promise<string> {
  const options: EmbeddedOptions = { directory: join(config.dataDirectory, 'postgresql'), log, signal, clock }
  const first = await startEmbedded(options)
  // Ended on every exit from here: a rejected start leaves no PostgreSQL running.
  started.defer(() => first.stop())
  const state = await stateOf(first.url)
  const isUpgrade = state.applied.length > 0 && state.pending.length > 0
  if (isUpgrade && config.snapshots) await snapshotBefore({ config, log, signal, state, embedded: first })
  const embedded = isUpgrade ? await startEmbedded(options) : first
  const watching = new AbortController()
  const watch = embedded.watch(watching.signal)
  started.defer(async () => {
    watching.abort()
    await watch
    await embedded.stop()
  })
  return embedded.url
}

const stateOf = (url: string): ReturnType<typeof schemaState> => inSchema(url, schemaState)

async function inSchema<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ url, name: 'quayside schema', max: 1 })
  return work(database).finally(() => database.end({ timeout: 5 }))
}
