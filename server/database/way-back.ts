import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock as clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { databaseUser } from './database-user.ts'
import { startEmbedded } from './embedded.ts'
import { preparePlace } from './place.ts'
import { openDatabase } from './pool.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'
import { lackingBytes, restoreSnapshot } from './snapshot.ts'
import { listSnapshots, type Snapshot, snapshotOf } from './snapshot-record.ts'

export interface WayBackOptions {
  /** The directory of the embedded PostgreSQL. */
  readonly directory: string
  readonly snapshots: string
  /** The names of the migrations that the target version knows. */
  readonly migrations: readonly string[]
  /**
   * Names this rollback. The previous database is kept under that name, and an interrupted rollback
   * is recognized by it.
   */
  readonly name: string
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called with the plan before anything changes. Throws to reject it. */
  readonly before: (snapshot: Snapshot) => Promise<void>
}

/** The restored snapshot, and the place of the previous database. */
export interface WentBack {
  readonly snapshot: Snapshot
  readonly aside: string
}

/**
 * Rolls the embedded database back to the schema of an earlier version, from the newest snapshot of
 * exactly that schema. Returns undefined if the database already has it. After an interruption it
 * can be called again with the same name. Throws AppError if no rollback is possible.
 */
export async function goBack(options: WayBackOptions): Promise<WentBack | undefined> {
  const { directory, snapshots, migrations, signal, name } = options
  const { cluster } = await preparePlace(directory, await databaseUser(signal))
  const aside = `${cluster}.before-${name}`
  const isUnderWay = await lstat(aside).then(
    () => true,
    () => false,
  )
  if (!isUnderWay && (await schemaOf(options)).join() === migrations.join()) return undefined
  const snapshot = snapshotOf(await listSnapshots(snapshots), migrations)
  if (!snapshot) {
    throw new AppError(
      'unavailable',
      `None of the snapshots in ${snapshots} has the schema that ends with ${migrations.at(-1)}, which the ` +
        'target version needs. Nothing was changed. Restore a backup of that version instead.',
    )
  }
  if (!isUnderWay) {
    await refuseWithoutRoom(join(snapshots, snapshot.name), cluster)
    await options.before(snapshot)
  }
  const running = await findPostmaster(cluster)
  if (running) await stopPostmaster(running.pid, cluster, clock)
  await restoreSnapshot({ snapshot: join(snapshots, snapshot.name), cluster, aside, signal })
  return { snapshot, aside }
}

/**
 * Returns the names of the database's migrations. Returns none if it does not start, because no
 * version can use it then.
 */
async function schemaOf({ directory, log, signal }: WayBackOptions): Promise<string[]> {
  const embedded = await startEmbedded({ directory, log, signal, clock }).catch((err: unknown) => {
    log.warn({ err }, 'the database does not start, so the snapshot replaces it')
    return undefined
  })
  if (!embedded) return []
  const database = openDatabase({ url: embedded.url, max: 1, name: 'quayside way back' })
  try {
    return (await database<{ name: string }[]>`select name from schema_migration order by name`).map(({ name }) => name)
  } finally {
    await database.end({ timeout: 5 })
    await embedded.stop()
  }
}

async function refuseWithoutRoom(snapshot: string, cluster: string): Promise<void> {
  const lacking = await lackingBytes(snapshot, cluster)
  if (lacking === 0) return
  const mebibytes = Math.ceil(lacking / 1024 ** 2)
  throw new AppError(
    'unavailable',
    `The current database is kept, so ${mebibytes} MiB more free space is needed beside ${cluster}. Nothing ` +
      'was changed.',
  )
}
