import { lstat, mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { run } from '../lib/run.ts'
import { syncDirectory } from '../lib/sync-directory.ts'
import { listSnapshots, outdated, type SnapshotRecord, snapshotName, unfinishedPrefix } from './snapshot-record.ts'

/** Number of schemas whose snapshots are kept. */
const keptSnapshots = 3
/** Free bytes that PostgreSQL and the platform need beside a copy while migrations run. */
const marginBytes = 256 * 1024 ** 2

/**
 * Copies the data directory of a stopped PostgreSQL, then renames the complete copy. Returns its
 * name.
 */
export async function takeSnapshot(options: {
  readonly cluster: string
  /** The directory of all snapshots. */
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
 * Replaces the database of a stopped PostgreSQL with a snapshot and keeps the previous one as
 * `aside`. If it is interrupted, it can be called again with the same paths. In between the
 * database may be missing, so nobody may start PostgreSQL before it is complete.
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
 * Copies with owners, modes and holes, and shares blocks if the file system can. A linked directory
 * becomes a plain one. `inUse`: files may disappear meanwhile.
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
  // Any line is enough: a full disk is reported once per file.
  const why = stderr.trim().split('\n').at(-1)
  throw new AppError('unavailable', `The database ${from} could not be copied to ${to}: ${why}.`)
}

/**
 * Flushes the whole file system once. A call for each of several thousand files takes a hundred
 * times as long.
 */
async function syncAll(path: string): Promise<void> {
  const { exitCode, stderr } = await run('sync', ['--file-system', path], { timeoutMs: copyTimeoutMs })
  if (exitCode !== 0) throw new AppError('unavailable', `${path} could not be written to the disk: ${stderr.trim()}`)
}

/**
 * Returns the bytes that a copy lacks on the file system of `directory` or its nearest parent; 0 if
 * there is enough room.
 */
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

/** Returns the bytes on the disk. Files that disappear meanwhile do not count. */
async function sizeOf(path: string): Promise<number> {
  const { exitCode, stdout, stderr } = await run('du', ['--summarize', '--dereference', '--block-size=1', path], {
    timeoutMs: 600_000,
  })
  const bytes = Number.parseInt(stdout.toString(), 10)
  if (Number.isSafeInteger(bytes)) return bytes
  throw new Error(`du ${path} ended with exit code ${exitCode}: ${stderr.trim()}`)
}
