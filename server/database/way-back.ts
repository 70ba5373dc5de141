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
  /** Of the embedded PostgreSQL. */
  readonly directory: string
  readonly snapshots: string
  /** Names of those that the version to go back to knows. */
  readonly migrations: readonly string[]
  /** Names this way back: what was there is kept under that name, and a way back that was cut off is known by it. */
  readonly name: string
  readonly log: Logger
  readonly signal: AbortSignal
  /** Is told what is going to be done, before anything is; throws to refuse it. */
  readonly before: (snapshot: Snapshot) => Promise<void>
}

/** Which snapshot was put in place, and where what was there is kept. */
export interface WentBack {
  readonly snapshot: Snapshot
  readonly aside: string
}

/**
 * Brings the embedded database to a schema that a former version knows: out of the newest snapshot of exactly that schema, unless the
 * database has it already (undefined then). May be cut off and called again under the same name. Throws AppError where there is no way.
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
      `None of the snapshots in ${snapshots} is of the schema that ends with ${migrations.at(-1)}, which the version to go back to needs. Nothing was changed. Restore a backup of that version instead.`,
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

/** Names of the migrations that the database has; none where it does not start, for then it is of no use to any version. */
async function schemaOf({ directory, log, signal }: WayBackOptions): Promise<string[]> {
  const embedded = await startEmbedded({ directory, log, signal, clock }).catch((err: unknown) => {
    log.warn({ err }, 'the database does not start, so the snapshot takes its place')
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
    `What is there is kept, so ${mebibytes} MiB more have to be free beside ${cluster}. Nothing was changed.`,
  )
}
