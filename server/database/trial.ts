import { chown, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock as clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { superuser } from './cluster.ts'
import { type DatabaseUser, databaseUser } from './database-user.ts'
import { startEmbedded } from './embedded.ts'
import { migrate, schemaState } from './migrate.ts'
import { type Place, preparePlace } from './place.ts'
import { openDatabase } from './pool.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'
import { copyCluster, lackingBytes } from './snapshot.ts'

export interface TrialOptions {
  /** The directory of the embedded PostgreSQL. It is not changed, whether it runs or not. */
  readonly directory: string
  /** The directory of the copy during the trial. */
  readonly trial: string
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Applies the pending migrations to a copy of the database and returns their names, or undefined if
 * no database exists yet. Throws the errors of a start: a failed migration, or a database that does
 * not fit. It does not flush to disk, because nothing is kept.
 */
export async function tryMigrations(options: TrialOptions): Promise<string[] | undefined> {
  const { trial, log, signal } = options
  const user = await databaseUser(signal)
  const place = await preparePlace(options.directory, user)
  if (!(await stat(place.cluster).catch(() => undefined))) return undefined
  const scratch = await preparePlace(trial, user)
  await refuseWithoutRoom(place, scratch)
  // Left by a killed trial.
  await endTrial(scratch)
  try {
    await rm(scratch.cluster, { recursive: true, force: true })
    const running = await findPostmaster(place.cluster)
    if (running) await copyRunning({ place, scratch, user, signal })
    else await copyCluster(place.cluster, scratch.cluster, signal)
    return await migrateIn(trial, log, signal)
  } finally {
    await endTrial(scratch)
    for (const directory of [scratch.sockets, scratch.home, trial])
      await rm(directory, { recursive: true, force: true })
  }
}

async function endTrial({ cluster }: Place): Promise<void> {
  const running = await findPostmaster(cluster)
  if (running) await stopPostmaster(running.pid, cluster, clock)
}

async function refuseWithoutRoom({ cluster }: Place, scratch: Place): Promise<void> {
  const lacking = await lackingBytes(cluster, scratch.home)
  if (lacking === 0) return
  const mebibytes = Math.ceil(lacking / 1024 ** 2)
  throw new AppError('unavailable', `Trying the migrations needs ${mebibytes} MiB more free space in ${scratch.home}.`)
}

async function migrateIn(directory: string, log: Logger, signal: AbortSignal): Promise<string[]> {
  const embedded = await startEmbedded({ directory, log, signal, clock, sizes: { durable: false } })
  const database = openDatabase({ url: embedded.url, max: 1, name: 'quayside trial' })
  try {
    const { pending } = await schemaState(database)
    await migrate(database, { log })
    return pending
  } finally {
    await database.end({ timeout: 5 })
    await embedded.stop()
  }
}

/**
 * Copies a database that is in use, by PostgreSQL's own rules: between two calls in one session,
 * with everything that was written to the log since the first call. If PostgreSQL removed a part of
 * that log meanwhile, the copy does not start and reports it.
 */
async function copyRunning(copy: {
  readonly place: Place
  readonly scratch: Place
  readonly user: DatabaseUser | undefined
  readonly signal: AbortSignal
}): Promise<void> {
  const { place, scratch, user, signal } = copy
  const url = `postgres://${superuser}@localhost/postgres?host=${encodeURIComponent(place.sockets)}`
  const database = openDatabase({ url, max: 1, name: 'quayside trial' })
  try {
    await database`select pg_backup_start('quayside trial', fast => true)`
    await copyCluster(place.cluster, scratch.cluster, signal, { inUse: true })
    const [end] = await database<
      { labelfile: string }[]
    >`select labelfile from pg_backup_stop(wait_for_archive => false)`
    if (!end) throw new Error('PostgreSQL did not say how the copy ends')
    await rm(join(scratch.cluster, 'pg_wal'), { recursive: true, force: true })
    await copyCluster(join(place.cluster, 'pg_wal'), join(scratch.cluster, 'pg_wal'), signal, { inUse: true })
    const label = join(scratch.cluster, 'backup_label')
    await writeFile(label, end.labelfile, { mode: 0o600 })
    if (user) await chown(label, user.uid, user.gid)
    for (const name of await readdir(scratch.cluster)) {
      if (name.startsWith('postmaster.')) await rm(join(scratch.cluster, name))
    }
  } finally {
    await database.end({ timeout: 5 })
  }
}
