import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { programPath } from '@quayside/contract/program-path.ts'
import type { LineSink } from './attempt.ts'
import { startDeadline } from './deadline.ts'

/**
 * The only module that starts programs: with an argument list, never through a shell, with an
 * environment that starts empty. Each program runs in its own process group, which is killed as a
 * whole on abort or timeout.
 */
export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Readable
  /** Lines of standard output and standard error, as they come. */
  readonly output?: LineSink
  readonly signal?: AbortSignal
  readonly timeoutMs: number
  /** Bytes of standard output kept in the result; the rest is dropped. */
  readonly maxBytes?: number
}

export interface RunResult {
  readonly exitCode: number
  readonly stdout: Buffer
  /** The last 8 kB of standard error. */
  readonly stderr: string
}

/**
 * Runs a program to its end. A non-zero exit code is a result; abort, timeout and a missing program
 * are exceptions.
 */
export async function run(program: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const child = start(program, args, options)
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>()
  const deadline = startDeadline(options.timeoutMs, options.signal)
  const ended = deadline.signal
  const onEnd = (): void => killGroup(child)
  if (ended.aborted) onEnd()
  ended.addEventListener('abort', onEnd, { once: true })

  const chunks: Buffer[] = []
  let kept = 0
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    const room = (options.maxBytes ?? 16 * 1024 * 1024) - kept
    if (room <= 0) return
    chunks.push(chunk.subarray(0, room))
    kept += Math.min(room, chunk.length)
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-8192)
  })
  if (options.output) relayLines(child, options.output)
  child.on('error', (error) => reject(new Error(`${program} could not be started`, { cause: error })))
  child.on('close', (code, signalName) => {
    ended.removeEventListener('abort', onEnd)
    if (options.signal?.aborted) reject(options.signal.reason)
    else if (deadline.isOver) reject(new Error(`${program} did not end within ${options.timeoutMs / 1000} s`))
    else resolve({ exitCode: code ?? (signalName ? 137 : 1), stdout: Buffer.concat(chunks), stderr })
  })
  return promise
}

/**
 * Starts a program that outlives the call; the caller owns the child. Standard streams are pipes
 * unless `stdio` says otherwise.
 */
export function start(
  program: string,
  args: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'env' | 'stdin'> & {
    readonly stdio?: 'pipe' | 'ignore' | readonly ('pipe' | 'ignore' | number)[]
    /** Runs the program as this user and group, which only root can do. */
    readonly user?: { readonly uid: number; readonly gid: number }
  },
): ChildProcess {
  const child = spawn(program, [...args], {
    shell: false,
    detached: true,
    cwd: options.cwd,
    env: { PATH: programPath, ...options.env },
    stdio: typeof options.stdio === 'object' ? [...options.stdio] : (options.stdio ?? 'pipe'),
    ...options.user,
  })
  if (typeof options.stdin === 'string') child.stdin?.end(options.stdin)
  else if (options.stdin && child.stdin) options.stdin.pipe(child.stdin)
  else if (options.stdio === undefined && options.stdin === undefined) child.stdin?.end()
  child.stdin?.on('error', () => child.stdin?.destroy())
  return child
}

/** Kills a program and everything it started. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (child.pid === undefined || child.exitCode !== null) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}

function relayLines(child: ChildProcess, output: LineSink): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => output.line(line))
  }
}
