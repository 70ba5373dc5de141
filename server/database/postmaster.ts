import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Place } from './place.ts'

/** The content of postmaster.pid. */
export interface PostmasterFile {
  readonly pid: number
  readonly sockets: string
  readonly ready: boolean
}

/** Undefined while the file is only partly written. */
export function parsePostmasterFile(text: string): PostmasterFile | undefined {
  const lines = text.split('\n').map((line) => line.trim())
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  return { pid, sockets: lines[4] ?? '', ready: lines[7] === 'ready' }
}

/**
 * Whether a process with this /proc/<pid>/stat is running. A zombie is not: it only waits for its
 * parent.
 */
export function isRunning(stat: string): boolean {
  const state = stat.slice(stat.lastIndexOf(')') + 2).charAt(0)
  return state !== '' && state !== 'Z' && state !== 'X'
}

/**
 * Whether the process runs and belongs to the PostgreSQL of that data directory, because process
 * ids are reused.
 */
export async function serves(pid: number, cluster: string): Promise<boolean> {
  try {
    // Synchronous: the kernel answers at once, a thread would cost more, and this runs all the
    // time.
    if (!isRunning(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return false
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync.native(cluster)
  } catch {
    return false
  }
}

/** Returns the postmaster that runs on this data directory, if one does. */
export async function findPostmaster(cluster: string): Promise<PostmasterFile | undefined> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const file = parsePostmasterFile(text)
  return file && (await serves(file.pid, cluster)) ? file : undefined
}

/**
 * Cleans up after a postmaster that died. Ends its last children and waits for their end, because
 * PostgreSQL does not start while one of them has the shared memory. Removes the lock files,
 * because PostgreSQL would take them for those of a living server while the dead one is a zombie or
 * its process id is reused.
 */
export async function clearRemains(place: Place, clock: Clock): Promise<void> {
  const until = clock.monotonic() + childrenEndMs
  for (;;) {
    const left = await childrenOf(place.cluster)
    if (left.length === 0) break
    if (clock.monotonic() > until) throw notEnded(left.map(({ pid }) => pid))
    for (const { pid, isEnding } of left) if (!isEnding) kill(pid, 'SIGKILL')
    await clock.sleep(5)
  }
  await rm(join(place.cluster, 'postmaster.pid'), { force: true })
  await rm(join(place.sockets, '.s.PGSQL.5432'), { force: true })
  await rm(join(place.sockets, '.s.PGSQL.5432.lock'), { force: true })
}

const childrenEndMs = 5_000

const notEnded = (pids: readonly number[]): AppError =>
  new AppError(
    'unavailable',
    `An earlier PostgreSQL could not be ended (processes ${pids.join(', ')}). They wait for their disk. Check the ` +
      'disk, or restart the machine.',
  )

/**
 * Returns the processes of PostgreSQL that work in this data directory. One that is ending has no
 * program any more, and may still have its memory.
 */
async function childrenOf(cluster: string): Promise<{ pid: number; isEnding: boolean }[]> {
  const found: { pid: number; isEnding: boolean }[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || !(await serves(Number(name), cluster))) continue
    const program = await readlink(`/proc/${name}/exe`).catch(() => '')
    const isEnding = program === ''
    if (isEnding || /\/postgres( \(deleted\))?$/.test(program)) found.push({ pid: Number(name), isEnding })
  }
  return found
}

/**
 * Ends a postmaster: first without waiting for clients, then without a checkpoint, then by force.
 * Nothing committed is lost.
 */
export async function stopPostmaster(pid: number, cluster: string, clock: Clock): Promise<void> {
  for (const [signal, limitMs] of [
    ['SIGINT', 10_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    kill(pid, signal)
    const until = clock.monotonic() + limitMs
    while (clock.monotonic() < until) {
      if (!(await serves(pid, cluster))) return
      await clock.sleep(5)
    }
  }
  throw notEnded([pid])
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
