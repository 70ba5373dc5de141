import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { LineSink } from '../lib/attempt.ts'
import { startDeadline } from '../lib/deadline.ts'
import { masker } from '../lib/masker.ts'
import { killGroup, type RunResult, run, start } from '../lib/run.ts'
import { Secret } from '../lib/secret.ts'
import { basicAuthorization, gitEnvironment, type Remote } from './environment.ts'
import { explainFailure } from './explain.ts'
import { GitError } from './git.ts'

/**
 * One run of the git program. In `args`, every argument that is not our own option follows
 * `--end-of-options`.
 */
export interface GitCall {
  readonly args: readonly string[]
  /** The bare repository. Without one, git gets a directory that does not exist. */
  readonly gitDirectory?: string
  /** Allows connections to this one server. */
  readonly remote?: Remote
  readonly stdin?: string
  /** Additions to the fixed environment, for commits and a private index. */
  readonly environment?: Readonly<Record<string, string>>
  readonly output?: LineSink
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly maxBytes?: number
}

export interface GitProgram {
  /**
   * Runs to the end. Throws GitError for a non-zero exit code or a timeout, or the signal's reason.
   */
  run(call: GitCall): Promise<RunResult>
  /**
   * Streams standard output. Fails like `run`, and with GitError('limits') beyond `maxBytes`.
   * Destroying the stream kills git.
   */
  open(call: Omit<GitCall, 'stdin' | 'output'>): Readable
}

/** `home` is an empty directory of ours, where git finds neither configuration nor a repository. */
export function createGitProgram(home: string): GitProgram {
  const argv = ({ args, gitDirectory }: GitCall): string[] => [
    `--git-dir=${gitDirectory ?? join(home, 'none')}`,
    '--literal-pathspecs',
    ...args,
  ]
  const env = (call: GitCall): Record<string, string> => ({ ...call.environment, ...gitEnvironment(home, call.remote) })

  return {
    async run(call) {
      const end = endOf(call)
      const mask = maskOf(call)
      try {
        const { stdin = '', maxBytes, output } = call
        const result = await run('git', argv(call), {
          cwd: home,
          env: env(call),
          stdin,
          signal: end.signal,
          // Unreachable: the signal above comes first and knows the reason.
          timeoutMs: call.timeoutMs + 60_000,
          ...(maxBytes === undefined ? {} : { maxBytes }),
          ...(output ? { output: progress(output, mask) } : {}),
        })
        if (result.exitCode === 0) {
          await call.remote?.contacted?.(true)
          return result
        }
        const failure = explainFailure(mask(result.stderr), hostOf(call))
        if (failure.reason === 'denied' && !call.signal.aborted) await call.remote?.contacted?.(false)
        throw failure
      } catch (thrown) {
        end.throwIfOver()
        throw thrown
      }
    },

    open(call) {
      const child = start('git', argv(call), { cwd: home, env: env(call), stdio: ['ignore', 'pipe', 'pipe'] })
      const stream = Readable.from(read(child, call), { objectMode: false })
      stream.once('close', () => killGroup(child))
      return stream
    },
  }
}

/**
 * Must be called in the same turn in which the child was started. Otherwise its events are missed.
 */
function read(child: ChildProcess, call: Omit<GitCall, 'stdin' | 'output'>): AsyncGenerator<Buffer> {
  const end = endOf(call)
  const stop = (): void => killGroup(child)
  if (end.signal.aborted) stop()
  end.signal.addEventListener('abort', stop, { once: true })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-8192)
  })
  // Listens at once: unread output is discarded when a program ends.
  const output = child.stdout?.pipe(new PassThrough()) ?? []
  const exit = Promise.withResolvers<number | null | Error>()
  child.once('error', exit.resolve)
  child.once('close', exit.resolve)

  async function* chunks(): AsyncGenerator<Buffer> {
    let room = call.maxBytes ?? Number.POSITIVE_INFINITY
    try {
      // A stream without an encoding emits buffers.
      for await (const chunk of output as AsyncIterable<Buffer>) {
        room -= chunk.length
        if (room < 0)
          throw new GitError('limits', 'The files of this commit are larger than allowed. Make the repository smaller.')
        yield chunk
      }
      const code = await exit.promise
      end.throwIfOver()
      if (code instanceof Error) throw code
      if (code !== 0) throw explainFailure(maskOf(call)(stderr), hostOf(call))
    } finally {
      end.signal.removeEventListener('abort', stop)
      stop()
    }
  }
  return chunks()
}

/**
 * Splits a stream into records that end with `separator`. One byte is one character, because names
 * in git have no encoding. Throws GitError('limits') for a record longer than `longest`, before all
 * of it is in memory.
 */
export async function* records(
  stream: Readable,
  separator: string,
  longest = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  // The parts of a record are joined once, when it is complete.
  let rest: string[] = []
  let held = 0
  const check = (length: number): void => {
    if (length > longest) throw new GitError('limits', tooLong)
  }
  // Without an encoding a byte stream emits buffers.
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const parts = chunk.toString('latin1').split(separator)
    const last = parts.pop() ?? ''
    for (const part of parts) {
      check(held + part.length)
      yield rest.join('') + part
      rest = []
      held = 0
    }
    if (last !== '') rest.push(last)
    held += last.length
    check(held)
  }
}

const tooLong = 'The commit has a path that is longer than file systems allow. Use shorter names or fewer directories.'

function endOf(call: Pick<GitCall, 'signal' | 'timeoutMs' | 'remote'>): {
  readonly signal: AbortSignal
  throwIfOver(): void
} {
  const deadline = startDeadline(call.timeoutMs, call.signal)
  return {
    signal: deadline.signal,
    throwIfOver() {
      call.signal.throwIfAborted()
      if (!deadline.isOver) return
      throw new GitError(
        'timeout',
        `${hostOf(call)} did not answer within ${call.timeoutMs / 1000} s. Try again later.`,
      )
    },
  }
}

const hostOf = ({ remote }: Pick<GitCall, 'remote'>): string => remote?.url.host ?? 'this server'

function maskOf({ remote }: Pick<GitCall, 'remote'>): (line: string) => string {
  if (!remote?.credential) return (line) => line
  const { password } = remote.credential
  return masker([password, new Secret(basicAuthorization(remote.credential).slice('Basic '.length))])
}

/** Keeps only the last line of each counter and removes empty lines and control characters. */
function progress(output: LineSink, mask: (line: string) => string): LineSink {
  return {
    line(text) {
      if (/^(?:remote: )?[A-Z][a-z ]+:\s+\d+/.test(text) && !text.trimEnd().endsWith('done.')) return
      const line = mask(text)
        .replace(/\p{Cc}/gu, ' ')
        .trimEnd()
      if (line !== '') output.line(line.slice(0, 1000))
    },
  }
}
