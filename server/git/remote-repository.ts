import type { LineSink } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Remote } from './environment.ts'
import type { GitProgram } from './git-program.ts'
import type { GitLimits } from './limits.ts'
import { type Scratch, withinSize } from './scratch.ts'

/** Dependencies for reading from git servers. */
export interface RemoteRepository {
  readonly program: GitProgram
  readonly scratch: Scratch
  readonly limits: GitLimits
  readonly clock: Clock
}

export interface Fetch {
  readonly refspec: string | readonly string[]
  /** Any commit id of the repository, for the length of its ids. */
  readonly commit: string
  readonly flags: readonly string[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly output?: LineSink
}

const always = ['--no-tags', '--no-auto-maintenance', '--no-write-fetch-head', '--no-recurse-submodules']

/**
 * Fetches into a new private repository and returns its directory, which the caller removes. Throws
 * GitError.
 */
export async function fetchInto(server: RemoteRepository, remote: Remote, fetch: Fetch): Promise<string> {
  const { program, scratch, limits, clock } = server
  const gitDirectory = await scratch.create(fetch.commit)
  const size = { directory: gitDirectory, maxBytes: limits.maxFetchBytes, clock, signal: fetch.signal }
  try {
    await withinSize(size, (signal) =>
      program.run({
        gitDirectory,
        remote,
        args: ['fetch', ...always, ...fetch.flags, '--end-of-options', remote.url.href, ...[fetch.refspec].flat()],
        signal,
        timeoutMs: fetch.timeoutMs,
        ...(fetch.output ? { output: fetch.output } : {}),
      }),
    )
    return gitDirectory
  } catch (thrown) {
    await scratch.remove(gitDirectory)
    throw thrown
  }
}
