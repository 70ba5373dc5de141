import { homedir } from 'node:os'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { run as runProgram } from '../../../server/lib/run.ts'
import { containerdSocket, kubeconfig, programs } from './settings.ts'

/**
 * Programs of the cluster come first. Go is where its own archive puts it, or in the usual places.
 */
export const environment = {
  PATH: `${programs}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin:/usr/local/go/bin`,
  HOME: homedir(),
  KUBECONFIG: kubeconfig,
}

export interface CommandOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly timeoutMs?: number
}

/** Runs a program and returns its output. Throws with what it said unless it succeeds. */
export async function must(program: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await tryTo(program, args, options)
  if (exitCode !== 0) throw new Error(`${program} ${args.join(' ')} failed with ${exitCode}:\n${stdout}${stderr}`)
  return stdout
}

/** Runs a program and returns its exit code and output. Throws if it cannot be started. */
export async function tryTo(program: string, args: readonly string[], options: CommandOptions = {}) {
  const { timeoutMs = 60_000, env, ...rest } = options
  const result = await runProgram(program, args, { ...rest, timeoutMs, env: { ...environment, ...env } })
  return { ...result, stdout: result.stdout.toString() }
}

export const kubectl = (args: readonly string[], options?: CommandOptions): Promise<string> =>
  must('kubectl', args, options)

/** Runs containerd's client in the namespace of Kubernetes. */
export const ctr = (args: readonly string[]): Promise<string> =>
  must('ctr', ['--address', containerdSocket, '--namespace', 'k8s.io', ...args])

/** Repeats a command until it succeeds. Throws with its last message after the limit. */
export async function untilSucceeds(what: string, seconds: number, attempt: () => Promise<unknown>): Promise<void> {
  const end = clock.monotonic() + seconds * 1000
  for (;;) {
    try {
      await attempt()
      return
    } catch (error) {
      if (clock.monotonic() > end) throw new Error(`${what} did not happen within ${seconds} s`, { cause: error })
      await clock.sleep(100)
    }
  }
}
