import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A version of the platform: that of its package, and the commit where it runs out of a checkout. */
export interface PlatformVersion {
  readonly version: string
  readonly commit?: string
}

/** What a snapshot says of itself, as its file `snapshot.json` holds it. */
export interface SnapshotRecord {
  readonly taken_at: string
  /** What ran on the database last; null where that one did not write it down. */
  readonly of: PlatformVersion | null
  /** Before whose migrations it was taken. */
  readonly before: PlatformVersion
  /** Names of the migrations that it has. */
  readonly migrations: readonly string[]
  /** Names of those that came after it. */
  readonly pending: readonly string[]
  /** Which master key sealed what is in it; null where there was none. */
  readonly master_key: string | null
}

export interface Snapshot extends SnapshotRecord {
  /** Of its directory. */
  readonly name: string
}

/** Names of directories with it do not count: a copy that was cut off. */
export const unfinishedPrefix = '.unfinished-'

/** `20260504T091231Z-0029_leaving_replicas`: names sort by time. */
export function snapshotName({ taken_at, migrations }: SnapshotRecord): string {
  const time = taken_at.replace(/\.\d+/, '').replace(/[-:]/g, '')
  return `${time}-${(migrations.at(-1) ?? 'none').replace(/\.sql$/, '')}`
}

/** The whole ones, the oldest first. */
export async function listSnapshots(directory: string): Promise<Snapshot[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const whole = names.filter((name) => !name.startsWith('.')).sort()
  const found = await Promise.all(whole.map((name) => readRecord(directory, name)))
  return found.filter((snapshot) => snapshot !== undefined)
}

async function readRecord(directory: string, name: string): Promise<Snapshot | undefined> {
  const text = await readFile(join(directory, name, 'snapshot.json'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    // Whatever else somebody put there.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  // We wrote it, and it got its name when it was whole.
  return text === undefined ? undefined : { ...(JSON.parse(text) as SnapshotRecord), name }
}

/**
 * Pure: those that may go. Of one schema only the newest stays, so that a start that fails again and again does not push out the
 * snapshot that leads back, and of schemas the last `keep`.
 */
export function outdated(snapshots: readonly Snapshot[], keep: number): Snapshot[] {
  const newest = new Map(snapshots.map((snapshot) => [snapshot.migrations.join(), snapshot.name]))
  const kept = new Set([...newest.values()].sort().slice(-keep))
  return snapshots.filter(({ name }) => !kept.has(name))
}

/** Pure: the newest one of exactly these migrations. */
export const snapshotOf = (snapshots: readonly Snapshot[], migrations: readonly string[]): Snapshot | undefined =>
  snapshots.findLast((snapshot) => snapshot.migrations.join() === migrations.join())
