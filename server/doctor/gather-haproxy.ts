import { messageOf } from '../lib/error.ts'
import { run } from '../lib/run.ts'
import type { HaproxyFact } from './facts.ts'

/** The settings that decide whether and how a router of this machine starts HAProxy. */
export interface HaproxySettings {
  readonly haproxy: string | undefined
  /** Undefined: no router runs on this machine. */
  readonly dockerSocket: string | undefined
}

const versionMs = 10_000
/** The version is in the first line. */
const versionBytes = 4096

/**
 * Asks the program HAProxy for its version. It is looked up as the router does. Never rejects.
 * Undefined if no router uses it.
 */
export async function gatherHaproxy({ haproxy, dockerSocket }: HaproxySettings): Promise<HaproxyFact | undefined> {
  if (haproxy === undefined || dockerSocket === undefined) return undefined
  try {
    const ended = await run(haproxy, ['-v'], { timeoutMs: versionMs, maxBytes: versionBytes })
    if (ended.exitCode !== 0) return { program: haproxy, reason: `it ended with exit code ${ended.exitCode}` }
    return { program: haproxy, said: ended.stdout.toString() }
  } catch (error) {
    return { program: haproxy, reason: reasonOf(error) }
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'this user may not run it',
  ENOTDIR: 'its path leads through a file',
}

function reasonOf(error: unknown): string {
  // Some errors of the system are thrown as they are.
  const cause = (error instanceof Error && error.cause) || error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return reasons[code] ?? messageOf(cause)
}
