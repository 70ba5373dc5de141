import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { monotonic, sleep } from '../clock.ts'
import { codeOf } from '../log.ts'
import { askFront } from './admin-socket.ts'
import type { Configuration } from './configuration.ts'
import type { FrontFiles } from './front-files.ts'

const startMs = 10_000
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

/** Returns the HAProxy that answers on a socket. Undefined if none does. */
export async function findHaproxy({ admin }: FrontFiles): Promise<Running | undefined> {
  try {
    const text = await askFront(admin, 'show info')
    const pid = Number(/^Pid: (\d+)$/m.exec(text)?.[1])
    return pid > 1 ? { pid, mark: /^(?:Description|description): quayside-(\w+)$/m.exec(text)?.[1] ?? '' } : undefined
  } catch (error) {
    const absent = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']
    if (absent.includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

export interface StartOptions {
  readonly program: string
  readonly files: FrontFiles
  readonly configuration: Configuration
  /** Hands over its listening sockets, and ends once its open requests have ended. */
  readonly previous: Running | undefined
  /** How many certificates it reads. */
  readonly certificates: number
}

/**
 * Starts HAProxy with a configuration, and waits until it listens. It outlives this process. Throws
 * with HAProxy's own message if it does not start.
 */
export async function startHaproxy(options: StartOptions): Promise<Running> {
  const { program, files, previous, certificates } = options
  const { text, mark } = options.configuration
  await writeFile(`${files.configuration}.new`, text, { mode: 0o600 })
  await rename(`${files.configuration}.new`, files.configuration)
  const handOver = previous ? ['-x', files.admin, '-sf', String(previous.pid)] : []
  const child = spawnDetached(program, ['-db', '-f', files.configuration, ...handOver], files.log)
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
  throw new Error(`${program} did not start: ${said.slice(-1_000)}`, { cause: failure })
}

/** Starts a program in its own process group. Its output replaces the file. */
function spawnDetached(program: string, args: readonly string[], log: string): ChildProcess {
  const output = openSync(log, 'w', 0o600)
  const child = spawn(program, [...args], {
    shell: false,
    detached: true,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', GLIBC_TUNABLES: memory.join(':') },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  child.unref()
  return child
}

/** Returns whether the process has not ended. Nobody may have collected an ended one. */
export async function isAlive({ pid }: Running): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Sends a signal to HAProxy. A process that is gone needs none. */
export function signalHaproxy({ pid }: Running, signal: 'SIGUSR1' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
