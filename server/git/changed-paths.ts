import { GitError } from './git.ts'
import { records } from './git-program.ts'
import type { Place } from './locate.ts'
import { fetchInto, type RemoteRepository } from './remote-repository.ts'

/** Maximum number of listed paths. */
const mostPaths = 10_000
const mostBytes = 4 * 1024 ** 2

/**
 * Returns the paths of files that differ between two commits, or undefined if they are more than
 * 10,000 or longer than 4 MiB together. From a server it only fetches the two commits and their
 * directories. Throws GitError if a commit no longer exists or a path is too long.
 */
export async function readChangedPaths(
  server: RemoteRepository,
  place: Place,
  question: { readonly before: string; readonly after: string; readonly signal: AbortSignal },
): Promise<string[] | undefined> {
  const { before, after, signal } = question
  if (![before, after].every((commit) => /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit))) {
    throw new GitError('commit', 'Commits can only be compared by their full ids.')
  }
  if (typeof place === 'string') return differences(server, place, question)
  const gitDirectory = await fetchInto(server, place, {
    refspec: [after, before],
    commit: after,
    flags: ['--depth=1', '--filter=blob:none'],
    signal,
    timeoutMs: server.limits.questionMs,
  })
  try {
    return await differences(server, gitDirectory, question)
  } finally {
    await server.scratch.remove(gitDirectory)
  }
}

async function differences(
  { program, limits }: RemoteRepository,
  gitDirectory: string,
  { before, after, signal }: { readonly before: string; readonly after: string; readonly signal: AbortSignal },
): Promise<string[] | undefined> {
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--end-of-options', before, after]
  const found: string[] = []
  let bytes = 0
  const listing = program.open({ gitDirectory, args, signal, timeoutMs: limits.questionMs })
  for await (const path of records(listing, '\0', limits.maxPathBytes)) {
    found.push(Buffer.from(path, 'latin1').toString())
    bytes += path.length
    if (found.length > mostPaths || bytes > mostBytes) return undefined
  }
  return found
}
