import { lstat, mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { run } from '../lib/run.ts'
import { syncDirectory } from '../lib/sync-directory.ts'
import { listSnapshots, outdated, type SnapshotRecord, snapshotName, unfinishedPrefix } from './snapshot-record.ts'

/** Of so many schemas. */
const keptSnapshots = 3
/** What PostgreSQL and the platform need beside a copy, while migrations run. */
const marginBytes = 256 * 1024 ** 2

/** Copies the data directory of a PostgreSQL that does not run, and only then gives the copy its name, which is the result. */
export async function takeSnapshot(options: {
  readonly cluster: string
  /** Holds all snapshots. */
  readonly directory: string
  readonly record: SnapshotRecord
  readonly signal: AbortSignal
}): Promise<string> {
  const { cluster, directory, record, signal } = options
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await removeUnfinished(directory)
  const name = snapshotName(record)
  const unfinished = join(directory, `${unfinishedPrefix}${name}`)
  await mkdir(unfinished, { mode: 0o700 })
  try {
    await copyCluster(cluster, join(unfinished, 'cluster'), signal)
    await writeFile(join(unfinished, 'snapshot.json'), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
    await syncAll(unfinished)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
  failpoint('snapshot.copied')
  await rm(join(directory, name), { recursive: true, force: true })
  await rename(unfinished, join(directory, name))
  await syncDirectory(directory)
  for (const old of outdated(await listSnapshots(directory), keptSnapshots))
    await rm(join(directory, old.name), { recursive: true, force: true })
  return name
}

async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(unfinishedPrefix)) await rm(join(directory, name), { recursive: true, force: true })
  }
}

/**
 * Puts a snapshot into the place of the database, on which no PostgreSQL runs; what was there is `aside` then. May be cut off anywhere
 * and called again with the same paths. In between there may be no database: nobody may start one before it came to its end.
 */
export async function restoreSnapshot(options: {
  readonly snapshot: string
  readonly cluster: string
  readonly aside: string
  readonly signal: AbortSignal
}): Promise<void> {
  const { snapshot, cluster, aside, signal } = options
  const restored = `${cluster}.restored`
  if (!(await exists(aside))) {
    await rm(`${restored}.unfinished`, { recursive: true, force: true })
    await rm(restored, { recursive: true, force: true })
    await copyCluster(join(snapshot, 'cluster'), `${restored}.unfinished`, signal)
    await syncAll(`${restored}.unfinished`)
    await rename(`${restored}.unfinished`, restored)
    await rename(cluster, aside)
    await syncDirectory(dirname(cluster))
  }
  failpoint('rollback.aside')
  if (!(await exists(cluster))) await rename(restored, cluster)
  await syncDirectory(dirname(cluster))
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )

const copyTimeoutMs = 6 * 3600_000

/**
 * With owners, modes and holes; without a copy of the blocks where the file system can share them. A linked directory becomes a plain
 * one. `inUse`: files may vanish meanwhile.
 */
export async function copyCluster(
  from: string,
  to: string,
  signal: AbortSignal,
  { inUse = false }: { readonly inUse?: boolean } = {},
): Promise<void> {
  const args = ['--archive', '--dereference', '--reflink=auto', '--sparse=auto', '--no-target-directory', from, to]
  const { exitCode, stderr } = await run('cp', args, { signal, timeoutMs: copyTimeoutMs })
  const problems = stderr
    .split('\n')
    .filter((line) => line !== '' && !(inUse && /No such file or directory$/.test(line)))
  if (exitCode === 0 || (inUse && problems.length === 0)) return
  // The last line is as good as the others: a full disk is told of once a file.
  const why = stderr.trim().split('\n').at(-1)
  throw new AppError('unavailable', `The database ${from} could not be copied to ${to}: ${why}.`)
}

/** Once for the whole file system: a call for each of some thousand files takes a hundred times as long. */
async function syncAll(path: string): Promise<void> {
  const { exitCode, stderr } = await run('sync', ['--file-system', path], { timeoutMs: copyTimeoutMs })
  if (exitCode !== 0) throw new AppError('unavailable', `${path} could not be written to the disk: ${stderr.trim()}`)
}

/** Bytes that a copy lacks room for where `directory`, or what is above it, is; 0 where there is enough. */
export async function lackingBytes(
  cluster: string,
  directory: string,
  freeBytes: (directory: string) => Promise<number> = freeBytesOf,
): Promise<number> {
  return Math.max(0, (await sizeOf(cluster)) + marginBytes - (await freeBytes(directory)))
}

async function freeBytesOf(directory: string): Promise<number> {
  if (!(await exists(directory))) return freeBytesOf(dirname(directory))
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Bytes on the disk. What vanishes meanwhile counts nothing. */
async function sizeOf(path: string): Promise<number> {
  const { exitCode, stdout, stderr } = await run('du', ['--summarize', '--dereference', '--block-size=1', path], {
    timeoutMs: 600_000,
  })
  const bytes = Number.parseInt(stdout.toString(), 10)
  if (Number.isSafeInteger(bytes)) return bytes
  throw new Error(`du ${path} ended with exit code ${exitCode}: ${stderr.trim()}`)
}
