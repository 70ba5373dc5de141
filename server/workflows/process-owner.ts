import { readFileSync, readlinkSync } from 'node:fs'
import { newId } from '../lib/id.ts'

/**
 * Names processes so that another process on the same host can check whether one is alive:
 * `<host>/<pid>/<start ticks>`, with optional further parts. The host is one boot of one machine,
 * seen from one process namespace, so neither a cloned machine nor a container can mistake
 * another's processes for its own.
 */
export const processOwner = (): string => `${host}/${process.pid}/${readState(process.pid)?.startTicks ?? newId()}`

/** Returns false only if the owner was a process of this host that has certainly ended. */
export function isAlive(owner: string): boolean {
  const [ownerHost, pidText, startTicks] = owner.split('/')
  const pid = Number(pidText)
  if (ownerHost !== host || !Number.isSafeInteger(pid) || pid <= 0) return true
  const state = readState(pid)
  if (state) return state.startTicks === startTicks && !'ZX'.includes(state.letter)
  return !isGone(pid)
}

/**
 * Parses /proc/<pid>/stat. The program's name may contain any character and ends at the last
 * parenthesis.
 */
export function parseStat(stat: string): { letter: string; startTicks: string } | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [letter, startTicks] = [fields[0], fields[19]]
  return letter && startTicks ? { letter, startTicks } : undefined
}

const host = readHost()

function readHost(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}.${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    // Without /proc other processes cannot be checked. They count as alive until their leases end.
    return newId()
  }
}

function readState(pid: number): { letter: string; startTicks: string } | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return undefined
  }
}

/** /proc may hide the processes of other users, so only the kernel's "no such process" counts. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}
