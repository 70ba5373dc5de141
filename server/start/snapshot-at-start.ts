import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type EmbeddedDatabase, lackingBytes, takeSnapshot } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { KeyFileError, readMasterKey } from '../vault/index.ts'
import { platformVersion, readVersionRecord } from './platform-version.ts'
import { StartError } from './start-error.ts'

/** Names of applied and of pending migrations. */
interface SchemaState {
  readonly applied: readonly string[]
  readonly pending: readonly string[]
}

/** Returns the directory of a data directory's snapshots. */
export const snapshotsIn = (dataDirectory: string): string => join(dataDirectory, 'snapshots')

/**
 * Stops PostgreSQL and takes a snapshot of its database. Throws StartError without stopping it if
 * there is not enough space.
 */
export async function snapshotBefore(options: {
  readonly config: Config
  readonly log: Logger
  readonly signal: AbortSignal
  readonly state: SchemaState
  readonly embedded: EmbeddedDatabase
}): Promise<void> {
  const { config, log, signal, state, embedded } = options
  const startedAt = clock.monotonic()
  const directory = snapshotsIn(config.dataDirectory)
  const cluster = join(embedded.home, 'cluster')
  await refuseWithoutRoom(cluster, directory)
  const record = {
    taken_at: clock.now().toISOString(),
    of: await formerVersion(config.dataDirectory),
    before: await platformVersion(),
    migrations: state.applied,
    pending: state.pending,
    master_key: await masterKeyId(config.masterKeyFile),
  }
  await embedded.stop()
  const snapshot = await takeSnapshot({ cluster, directory, record, signal }).catch((cause: unknown) => {
    throw new StartError(`${nothingChanged(state)} ${messageOf(cause)} ${otherwise}`, { cause })
  })
  log.info({ snapshot, ms: Math.round(clock.monotonic() - startedAt) }, 'snapshot was taken before migrations')
}

/** Returns a name of the key that reveals nothing of the key. Null if no key can be read. */
export const masterKeyId = (file: string): Promise<string | null> =>
  readMasterKey(file).then(
    ({ id }) => id,
    (error: unknown) => {
      if (error instanceof KeyFileError) return null
      throw error
    },
  )

async function formerVersion(dataDirectory: string) {
  const known = await readVersionRecord(dataDirectory)
  return known ? { version: known.version, ...(known.commit === undefined ? {} : { commit: known.commit }) } : null
}

async function refuseWithoutRoom(cluster: string, directory: string): Promise<void> {
  const lacking = await lackingBytes(cluster, directory)
  if (lacking === 0) return
  const mebibytes = Math.ceil(lacking / 1024 ** 2)
  throw new StartError(
    `There is no room for a snapshot of the database in ${directory}: ${mebibytes} MiB more must be free. ` +
      'Nothing was changed. Make room, start the previous version again, or set QUAYSIDE_SNAPSHOT=off to ' +
      'migrate without a snapshot.',
  )
}

const nothingChanged = ({ pending }: SchemaState): string =>
  `No snapshot could be taken before the migrations ${pending.join(', ')}, so none was applied.`

const otherwise = 'Start the previous version again, or set QUAYSIDE_SNAPSHOT=off to migrate without a snapshot.'

/**
 * For a database that Quayside must not copy. Throws StartError if it has data and migrations are
 * pending.
 */
export function refuseWithoutBackup({ applied, pending }: SchemaState): void {
  if (applied.length === 0 || pending.length === 0) return
  throw new StartError(
    `The migrations ${pending.join(', ')} would change the database of QUAYSIDE_DATABASE_URL, and Quayside ` +
      'takes no snapshot of it. Nothing was changed. Make a backup, and start with QUAYSIDE_SNAPSHOT=off.',
  )
}
