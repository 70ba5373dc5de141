import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startDeadline } from '../lib/deadline.ts'
import { AppError } from '../lib/error.ts'
import { start } from '../lib/run.ts'
import { syncDirectory } from '../lib/sync-directory.ts'
import type { Binaries } from './binaries.ts'
import type { DatabaseUser } from './database-user.ts'
import type { Place } from './place.ts'
import { accessText, type Sizes, settingsText } from './settings.ts'

/** The name of the superuser inside PostgreSQL. */
export const superuser = 'quayside'

export interface ClusterOptions {
  readonly place: Place
  readonly binaries: Binaries
  readonly user: DatabaseUser | undefined
  readonly sizes: Sizes
  readonly signal: AbortSignal
  /** Whether to create an empty database if none exists. */
  readonly create: boolean
}

/**
 * Creates the data directory or checks the version of an existing one, and writes the
 * configuration.
 */
export async function prepareCluster(options: ClusterOptions): Promise<void> {
  const { place, binaries } = options
  const version = await readFile(join(place.cluster, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version === undefined && options.create) await createCluster(options)
  else if (version === undefined) {
    throw new AppError('unavailable', `The database in ${place.cluster} is gone. Restore it from a backup.`)
  } else if (version.trim() !== binaries.major) {
    throw new AppError(
      'unavailable',
      `The database in ${place.cluster} was created by PostgreSQL ${version.trim()}, but this Quayside ` +
        `contains ${binaries.major}. Start the Quayside that created it, or dump it there and restore it into ` +
        'a new data directory.',
    )
  }
  await writeFile(join(place.home, 'pg_hba.conf'), accessText)
  await writeFile(join(place.home, 'postgresql.conf'), settingsText(place, options.sizes))
}

/**
 * Creates it in a temporary directory and renames that at the end, so an interrupted start leaves
 * nothing that looks like a database.
 */
async function createCluster({ place, binaries, user, sizes, signal }: ClusterOptions): Promise<void> {
  for (const name of await readdir(place.home)) {
    if (name.startsWith('cluster.new-')) await rm(join(place.home, name), { recursive: true, force: true })
  }
  const unfinished = join(place.home, `cluster.new-${process.pid}`)
  await mkdir(unfinished, { mode: 0o700 })
  if (user) await chown(unfinished, user.uid, user.gid)
  await initialize({ program: binaries.initdb, args: initdbArgs(unfinished, sizes), user, signal })
  await rename(unfinished, place.cluster)
  await syncDirectory(place.home)
  await syncDirectory(dirname(place.home))
}

/** Locale and encoding are set here, because the environment's LANG=C would mean SQL_ASCII. */
const initdbArgs = (directory: string, sizes: Sizes): string[] => [
  `--pgdata=${directory}`,
  `--username=${superuser}`,
  '--auth=trust',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--data-checksums',
  '--no-instructions',
  ...(sizes.durable ? [] : ['--no-sync']),
]

async function initialize(call: {
  readonly program: string
  readonly args: readonly string[]
  readonly user: DatabaseUser | undefined
  readonly signal: AbortSignal
}): Promise<void> {
  const child = start(call.program, call.args, { cwd: '/', ...(call.user ? { user: call.user } : {}) })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4096)
    })
  }
  const { signal: limit } = startDeadline(60_000, call.signal)
  // A plain kill lets initdb stop its helper process. The next start removes its files.
  const onAbort = (): void => void child.kill('SIGTERM')
  limit.addEventListener('abort', onAbort, { once: true })
  child.once('error', reject)
  child.once('close', (code) => resolve(code ?? 1))
  const code = await promise.finally(() => limit.removeEventListener('abort', onAbort))
  call.signal.throwIfAborted()
  if (code !== 0) throw new Error(`initdb ended with exit code ${code}: ${said.trim()}`)
}
