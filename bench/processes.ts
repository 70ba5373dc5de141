import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { until } from './until.ts'

/** Process ids of a process and of everything below it. */
export async function treeOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(treeOf))
  return [pid, ...below.flat()]
}

/** The arguments that a process was started with; none when it is gone. */
export const commandLine = async (pid: number): Promise<string[]> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').filter((part) => part !== '')

/** Processes that were started with this argument. */
export async function pidsWith(argument: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Boolean)
  const found = await Promise.all(pids.map(async (pid) => ((await commandLine(pid)).includes(argument) ? pid : 0)))
  return found.filter(Boolean)
}

/** Proportional set size in MB (10⁶ bytes): memory that several processes share is counted once over all of them. */
export async function pssMB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]) * 1024) / 1e6
}

/** Seconds of CPU that a process has used so far, in its own code and in the system's. */
export async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  // A hundred ticks a second, on every Linux that Node.js runs on.
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Ends a process at once and waits until it is gone; a zombie is gone. */
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

/** A port of 127.0.0.1 that nobody uses at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof bound !== 'object' || !bound) throw new Error('no port')
  return bound.port
}
