import { readdir, readFile } from 'node:fs/promises'
import { until } from './until.ts'

/** Returns the ids of a process and of its descendants. */
export async function treeOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(treeOf))
  return [pid, ...below.flat()]
}

/** Returns the arguments of a process. Empty if it is gone. */
export const commandLine = async (pid: number): Promise<string[]> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').filter((part) => part !== '')

/** Returns the processes that were started with this argument. */
export async function pidsWith(argument: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Boolean)
  const found = await Promise.all(pids.map(async (pid) => ((await commandLine(pid)).includes(argument) ? pid : 0)))
  return found.filter(Boolean)
}

/**
 * Returns the proportional set size in MB (10⁶ bytes), in which memory shared by several processes
 * counts once.
 */
export async function pssMB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024) / 1e6
}

/** Returns the seconds of CPU that a process has used, in user and system mode. */
export async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  // A hundred ticks a second, on every Linux that Node.js runs on.
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Kills a process and waits until it is gone. A zombie counts as gone. */
export async function killProcess(pid: number): Promise<void> {
  if (pid <= 1) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    return
  }
  await gone(pid)
}

export const gone = (pid: number): Promise<boolean> =>
  until(`process ${pid} is gone`, async () => !(await isRunning(pid)), { limitMs: 60_000 })

async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [, state] = /\) (\S)/.exec(stat) ?? []
  return state !== undefined && state !== 'Z' && state !== 'X'
}
