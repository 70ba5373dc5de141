import { fileURLToPath } from 'node:url'
import { start } from '../../server/lib/run.ts'
import { until } from './until.ts'

const program = fileURLToPath(new URL('tidy-up.ts', import.meta.url))

/**
 * A process that removes what a test leaves in a directory and elsewhere, even if the test's
 * process dies. See tidy-up.ts.
 */
export interface Tidying {
  /** Registers one thing to remove. */
  note(
    kind: 'server' | 'member' | 'daemon' | 'bridge' | 'engine' | 'instance' | 'service',
    value: string | number | undefined,
  ): void
  /** Removes everything now. Throws with the reason if that fails. */
  finish(): Promise<void>
}

export function startTidying(directory: string): Tidying {
  const child = start(process.execPath, [program, directory], { stdio: ['pipe', 'ignore', 'pipe'], env: {} })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    note: (kind, value) => void child.stdin?.write(`${kind} ${value}\n`),
    finish: async () => {
      child.stdin?.end()
      await until('the remains of the test are removed', hasEnded, { limitMs: 60_000 })
      if (child.exitCode !== 0) throw new Error(`the remains of the test could not be removed:\n${said}`)
    },
  }
}
