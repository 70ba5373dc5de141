import { readdir, readFile, readlink } from 'node:fs/promises'
import { monotonic, sleep } from '../clock.ts'
import { codeOf } from '../log.ts'
import type { FrontFiles } from './front-files.ts'
import { argumentsFor, isAlive, signalHaproxy } from './start-haproxy.ts'

/** A process that has just been started ends within this time. */
const endMs = 200
const lookMs = 10

/**
 * Has every HAProxy of this installation end, except one, as soon as its open requests have ended.
 * A router that was killed may have left one that had not finished its start, and would listen at
 * the ports later. Waits a moment for those that end at once.
 */
export async function retireOthers(files: FrontFiles, except: number | undefined): Promise<void> {
  const others = (await processesOf(files)).filter((pid) => pid !== except)
  // One that starts ends by this signal, and one that already ends ignores it.
  for (const pid of others) signalHaproxy({ pid }, 'SIGUSR1')
  for (const end = monotonic() + endMs; others.length > 0 && monotonic() < end; await sleep(lookMs)) {
    const alive = await Promise.all(others.map((pid) => isAlive({ pid })))
    if (!alive.includes(true)) return
  }
}

/** Returns the processes that were started with the configuration of this installation. */
async function processesOf(files: FrontFiles): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const wanted = `\0${argumentsFor(files).join('\0')}\0`
  const own = await unlessGone(readlink('/proc/self/ns/mnt'))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const isMeant = (await unlessGone(readFile(`/proc/${pid}/cmdline`, 'utf8'))).endsWith(wanted)
      // In a container, the same path is another file.
      const isHere = isMeant && (await unlessGone(readlink(`/proc/${pid}/ns/mnt`))) === own
      return isHere ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

/** Returns what a file of a process says. Empty if the process has ended or is somebody else's. */
async function unlessGone(read: Promise<string>): Promise<string> {
  try {
    return await read
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return ''
    throw error
  }
}
