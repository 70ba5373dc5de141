import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { start as startProgram } from '../../../server/lib/run.ts'
import { environment } from './commands.ts'
import { logs, run } from './settings.ts'

/** A running program of the cluster: its process id and the ticks at which it started. */
interface Started {
  readonly pid: number
  readonly startedAt: string
}

const recordOf = (name: string): string => join(run, `${name}.process`)
const hidden = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error
}

/**
 * Starts a program of the cluster unless it runs. It outlives this process. Its output goes to a
 * file in `logs` with its name.
 */
export async function ensureProcess(name: string, program: string, args: readonly string[]): Promise<void> {
  if (await findProcess(name)) return
  await Promise.all([mkdir(run, { recursive: true }), mkdir(logs, { recursive: true })])
  const log = await open(join(logs, `${name}.log`), 'a')
  const child = startProgram(program, args, { env: environment, stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  if (child.pid === undefined) throw new Error(`${program} could not be started; is it installed?`)
  child.unref()
  const startedAt = await startOf(child.pid)
  if (startedAt === undefined) throw new Error(`${name} ended at once; its output is in ${logs}`)
  await writeFile(recordOf(name), JSON.stringify({ pid: child.pid, startedAt }))
}

/** Returns the process id of a program of the cluster. Undefined if it does not run. */
export async function findProcess(name: string): Promise<number | undefined> {
  const text = await readFile(recordOf(name), 'utf8').catch(hidden)
  if (text === undefined) return undefined
  const { pid, startedAt }: Started = JSON.parse(text)
  // Another program may have the id by now.
  return (await startOf(pid)) === startedAt ? pid : undefined
}

/**
 * Returns when a process started, in ticks since the machine did. Undefined if it has ended. One
 * that nobody has waited for still has an id, so its state is checked.
 */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(hidden)
  // The name of the program is in parentheses and may contain spaces.
  const [status, ...fields] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  return status === undefined || status === 'Z' || status === 'X' ? undefined : fields[18]
}

/** Ends programs of the cluster together, and kills those that remain after five seconds. */
export async function endProcesses(names: readonly string[], signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const pid = await findProcess(name)
      if (pid !== undefined) await end(name, pid, signal)
      await rm(recordOf(name), { force: true })
    }),
  )
}

async function end(name: string, pid: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  process.kill(pid, signal)
  const limit = clock.monotonic() + 5000
  while ((await findProcess(name)) !== undefined) {
    if (clock.monotonic() > limit) process.kill(pid, 'SIGKILL')
    await clock.sleep(50)
  }
}

/** Lists the programs that were started here, running or not. */
export async function listProcesses(): Promise<readonly string[]> {
  const files = (await readdir(run).catch(hidden)) ?? []
  return files.filter((file) => file.endsWith('.process')).map((file) => file.slice(0, -'.process'.length))
}
