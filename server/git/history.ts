import { openTree } from './checkout.ts'
import { commitFormat, parseCommit } from './commit-info.ts'
import type { CommitInfo, TreeView } from './git.ts'
import type { GitCall } from './git-program.ts'
import type { Head } from './heads.ts'
import type { Place } from './locate.ts'
import { matchCommit, maxListing, withHistory } from './questions.ts'
import type { RemoteRepository } from './remote-repository.ts'
import { readTags } from './tags.ts'

/**
 * Returns the last commits of the head's history, newest first, starting with the commit `from`,
 * which must be in it.
 */
export async function readLog(
  server: RemoteRepository,
  place: Place,
  question: {
    readonly head: Head
    readonly count: number
    readonly from?: string | undefined
    readonly signal: AbortSignal
  },
): Promise<CommitInfo[]> {
  const { head, count, from, signal } = question
  const depth = from === undefined ? count : 2147483647
  const flags = [`--depth=${depth}`, '--filter=tree:0']
  const tagged = readTags(server, place, signal).catch(() => new Map<string, string>())
  return withHistory(server, place, { ...question, flags }, async (gitDirectory) => {
    const { program, limits } = server
    const first =
      from === undefined ? head.commit : await matchCommit(server, gitDirectory, { ...question, commit: from })
    const args = ['log', '-z', `--max-count=${count}`, '--no-color', '--no-mailmap', '--no-notes', '--encoding=UTF-8']
    const { stdout } = await program.run({
      gitDirectory,
      args: [...args, commitFormat, '--end-of-options', `${first}^{commit}`, '--'],
      signal,
      timeoutMs: limits.questionMs,
      maxBytes: maxListing,
    })
    const tags = await tagged
    const texts = stdout.toString().split('\0')
    return texts.filter((text) => text.trim() !== '').map((text) => parseCommit(text.trimStart(), tags))
  })
}

/** Opens the head's tree while `read` runs. A server sends each file only when it is read. */
export async function readTreeOf<T>(
  server: RemoteRepository,
  place: Place,
  question: { readonly head: Head; readonly signal: AbortSignal },
  read: (tree: TreeView) => Promise<T>,
): Promise<T> {
  const flags = ['--depth=1', '--filter=blob:none']
  return withHistory(server, place, { ...question, flags }, async (gitDirectory) => {
    const program =
      typeof place === 'string'
        ? server.program
        : { ...server.program, run: (call: GitCall) => server.program.run({ ...call, remote: place }) }
    const source = { program, limits: server.limits, gitDirectory, commit: question.head.commit }
    return read(await openTree(source, question.signal))
  })
}
