import { readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'

/**
 * A segment of shared memory; `changedMs` is when it was last changed, in milliseconds since 1970.
 */
export interface Segment {
  readonly path: string
  readonly changedMs: number
}

/**
 * Returns the segments that no process can use. A PostgreSQL creates its segments after its own
 * start, so a segment that is older than every running PostgreSQL belongs to none of them.
 * `startsMs` are their start times.
 */
export const unusedSegments = (segments: readonly Segment[], startsMs: readonly number[]): Segment[] =>
  segments.filter(({ changedMs }) => startsMs.every((startMs) => changedMs < startMs - marginMs))

/** The kernel reports starts in hundredths of a second since a boot that it reports in seconds. */
const marginMs = 2000
const ticksPerSecond = 100
const segmentName = /^PostgreSQL\.\d+$/

/**
 * Removes the segments that versions before `dynamic_shared_memory_type = mmap` left in /dev/shm
 * when they were killed. It only considers segments of the account that PostgreSQL runs as. Other
 * installations may share the account, so it keeps everything that a running PostgreSQL of it could
 * use. It never throws, because a remaining segment only costs memory.
 */
export async function removeLeftSegments(uid: number, log: Logger, directory = '/dev/shm'): Promise<void> {
  try {
    const segments = await segmentsOf(uid, directory)
    if (segments.length === 0) return
    const unused = unusedSegments(segments, await startsOf(uid))
    for (const { path } of unused) await rm(path, { force: true })
    if (unused.length > 0) log.info({ segments: unused.length }, 'shared memory of a killed PostgreSQL was removed')
  } catch (error) {
    log.warn({ error: messageOf(error) }, 'shared memory of a killed PostgreSQL could not be removed')
  }
}

async function segmentsOf(uid: number, directory: string): Promise<Segment[]> {
  const names = await readdir(directory).catch(() => [])
  const found = await Promise.all(
    names
      .filter((name) => segmentName.test(name))
      .map(async (name) => ({ path: join(directory, name), facts: await stat(join(directory, name)).catch(ifGone) })),
  )
  return found.flatMap(({ path, facts }) => (facts?.uid === uid ? [{ path, changedMs: facts.mtimeMs }] : []))
}

/**
 * Returns the start time of each running PostgreSQL of the account. Throws if /proc has no such
 * data.
 */
async function startsOf(uid: number): Promise<number[]> {
  const bootSeconds = Number(
    (await readFile('/proc/stat', 'utf8'))
      .split('\n')
      .find((line) => line.startsWith('btime '))
      ?.slice('btime '.length),
  )
  if (!Number.isFinite(bootSeconds)) throw new Error('/proc/stat has no line "btime"')
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const starts = await Promise.all(pids.map((pid) => startOf(join('/proc', pid), uid)))
  return starts.flatMap((ticks) => (ticks === undefined ? [] : [(bootSeconds + ticks / ticksPerSecond) * 1000]))
}

/** Undefined for a process of another account or program, or one that has ended. */
async function startOf(process: string, uid: number): Promise<number | undefined> {
  if ((await stat(process).catch(ifGone))?.uid !== uid) return undefined
  const program = (await readlink(join(process, 'exe')).catch(ifGone)) ?? ''
  if (!program.replace(' (deleted)', '').endsWith('/postgres')) return undefined
  const text = (await readFile(join(process, 'stat'), 'utf8').catch(ifGone)) ?? ''
  // The 22nd field. The second one, the name in parentheses, may contain blanks.
  const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19])
  return text === '' ? undefined : ticks
}

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
}
