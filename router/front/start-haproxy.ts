import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { programPath } from '@quayside/contract/program-path.ts'
import { monotonic, sleep } from '../clock.ts'
import { codeOf, describe } from '../log.ts'
import { askFrontIfAny } from './admin-socket.ts'
import type { Configuration } from './configuration.ts'
import type { FrontFiles } from './front-files.ts'

const startMs = 10_000
/** It describes its build within this time. */
const answerMs = 5_000
/** HAProxy needs up to a millisecond to read a certificate. */
const startMsPerCertificate = 5
const lookMs = 10

/**
 * HAProxy frees and allocates a buffer several times for each request. By default the C library
 * returns each freed one to the kernel, which clears it for the next request: about a seventh of
 * the CPU of requests over HTTP/2. With these settings each thread keeps up to 64 buffers, and 16
 * MiB of free memory stay with the process. Other C libraries ignore them.
 */
const memory = [
  'glibc.malloc.tcache_max=20480',
  'glibc.malloc.tcache_count=64',
  `glibc.malloc.trim_threshold=${16 * 1024 * 1024}`,
]

/** A running HAProxy. */
export interface Running {
  readonly pid: number
  /** The mark of its configuration. Empty if it is not one of ours. */
  readonly mark: string
}

/** Returns the HAProxy that answers on a socket. Undefined if none does, or it is about to end. */
export async function findHaproxy({ admin }: FrontFiles): Promise<Running | undefined> {
  const text = await askFrontIfAny(admin, 'show info')
  const pid = Number(/^Pid: (\d+)$/m.exec(text ?? '')?.[1])
  const mark = /^(?:Description|description): quayside-(\w+)$/m.exec(text ?? '')?.[1] ?? ''
  const isEnding = /^Stopping: 1$/m.test(text ?? '')
  return pid > 1 && !isEnding ? { pid, mark } : undefined
}

/** Returns the description of a build, `haproxy -vv`. Empty if there is no such program. */
export const buildOf = (program: string): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, ['-vv'], { env: { PATH: programPath }, timeout: answerMs }, (error, output) =>
      resolve(error ? '' : output),
    )
  })

export interface StartOptions {
  readonly program: string
  readonly files: FrontFiles
  readonly configuration: Configuration
  /** How many certificates it reads. */
  readonly certificates: number
  /** Called with the process as soon as it exists. */
  spawned(child: ChildProcess): void
}

/** The arguments by which processes of an installation are known. They are the last ones. */
export const argumentsFor = ({ configuration }: FrontFiles): readonly string[] => ['-db', '-f', configuration]

/** HAProxy does not start. */
export class StartFailure extends Error {
  /** HAProxy's own messages. Empty if there is no such program. */
  readonly said: string

  constructor(program: string, said: string, cause: unknown) {
    super(`${program} did not start: ${said.slice(-1_000) || describe(cause)}`, { cause })
    this.said = said
  }
}

/**
 * Starts HAProxy with a configuration, and waits until it listens. It outlives this process. Throws
 * StartFailure if it does not start.
 */
export async function startHaproxy(options: StartOptions): Promise<Running> {
  const { program, files, certificates } = options
  const { text, mark } = options.configuration
  await writeFile(`${files.configuration}.new`, text, { mode: 0o600 })
  await rename(`${files.configuration}.new`, files.configuration)
  const child = spawnDetached(program, argumentsFor(files), files.log)
  options.spawned(child)
  let failure: unknown
  child.once('error', (error) => {
    failure = error
  })
  const patienceMs = startMs + certificates * startMsPerCertificate
  for (const end = monotonic() + patienceMs; monotonic() < end; await sleep(lookMs)) {
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) break
    const found = await findHaproxy(files)
    if (found && found.pid === child.pid && found.mark === mark) return found
  }
  child.kill('SIGKILL')
  const said = await readFile(files.log, 'utf8').catch(() => '')
  throw new StartFailure(program, said, failure)
}

/** Starts a program in its own process group. Its output replaces the file. */
function spawnDetached(program: string, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, 'w', 0o600)
  const child = spawn(program, [...args], {
    shell: false,
    detached: true,
    env: { PATH: programPath, GLIBC_TUNABLES: memory.join(':') },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  child.unref()
  return child
}

/** Returns whether the process has not ended. Nobody may have collected an ended one. */
export async function isAlive({ pid }: Pick<Running, 'pid'>): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Sends a signal to HAProxy. A process that is gone needs none. */
export function signalHaproxy({ pid }: Pick<Running, 'pid'>, signal: 'SIGUSR1' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
