import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A version of the platform: that of its package, and the commit if it runs from a checkout. */
export interface PlatformVersion {
  readonly version: string
  readonly commit?: string
}

/** The description of a snapshot, stored in its file `snapshot.json`. */
export interface SnapshotRecord {
  readonly taken_at: string
  /** The last version that ran on the database. Null if that version did not record it. */
  readonly of: PlatformVersion | null
  /** The version whose migrations it precedes. */
  readonly before: PlatformVersion
  /** The names of its migrations. */
  readonly migrations: readonly string[]
  /** The names of the migrations that followed. */
  readonly pending: readonly string[]
  /** The master key that sealed its secrets. Null if there was none. */
  readonly master_key: string | null
}

export interface Snapshot extends SnapshotRecord {
  /** The name of its directory. */
  readonly name: string
}

/** Directories with this in their name are unfinished copies. */
export const unfinishedPrefix = '.unfinished-'

/** `20260504T091231Z-0029_leaving_replicas`: names sort by time. */
export function snapshotName({ taken_at, migrations }: SnapshotRecord): string {
  const time = taken_at.replace(/\.\d+/, '').replace(/[-:]/g, '')
  return `${time}-${(migrations.at(-1) ?? 'none').replace(/\.sql$/, '')}`
}

/** Lists the complete snapshots, oldest first. */
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
    // A file of someone else.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  // We wrote it, and the directory got its name when it was complete.
  return text === undefined ? undefined : { ...(JSON.parse(text) as SnapshotRecord), name }
}

/**
 * Returns the snapshots to delete. Of each schema only the newest is kept, so that repeatedly
 * failing starts do not replace the snapshot for a rollback. Of the schemas the last `keep` are
 * kept.
 */
export function outdated(snapshots: readonly Snapshot[], keep: number): Snapshot[] {
  const newest = new Map(snapshots.map((snapshot) => [snapshot.migrations.join(), snapshot.name]))
  const kept = new Set([...newest.values()].sort().slice(-keep))
  return snapshots.filter(({ name }) => !kept.has(name))
}

/** Returns the newest snapshot of exactly these migrations. */
export const snapshotOf = (snapshots: readonly Snapshot[], migrations: readonly string[]): Snapshot | undefined =>
  snapshots.findLast((snapshot) => snapshot.migrations.join() === migrations.join())
