import type { Remote } from './environment.ts'
import { GitError } from './git.ts'
import { records } from './git-program.ts'
import { chooseHead, type Head } from './heads.ts'
import type { Place } from './locate.ts'
import { fetchInto, type RemoteRepository } from './remote-repository.ts'
import { parseTreeRecord, shown } from './tree.ts'

export const maxListing = 16 * 1024 ** 2

/**
 * Finds the head of the branch, or of main, master or HEAD. Throws GitError('branch') if there is
 * none.
 */
export async function readHead(
  server: RemoteRepository,
  place: Place,
  question: { readonly branch: string | undefined; readonly signal: AbortSignal },
): Promise<Head> {
  const { branch, signal } = question
  const refs = branch === undefined ? ['refs/heads/main', 'refs/heads/master'] : [`refs/heads/${branch}`]
  const ask = async (
    args: readonly string[],
    where: { gitDirectory: string } | { remote: Remote },
  ): Promise<string> => {
    const call = { args, signal, timeoutMs: server.limits.questionMs, maxBytes: maxListing, ...where }
    return (await server.program.run(call)).stdout.toString()
  }
  const head =
    typeof place === 'string'
      ? (chooseHead(await ask(['for-each-ref', line, ...refs], { gitDirectory: place }), branch) ??
        (branch === undefined
          ? currentHead(await ask(['for-each-ref', currentLine], { gitDirectory: place }))
          : undefined))
      : chooseHead(
          await ask(
            [
              'ls-remote',
              '--symref',
              '--end-of-options',
              place.url.href,
              ...(branch === undefined ? ['HEAD'] : []),
              ...refs,
            ],
            { remote: place },
          ),
          branch,
        )
  if (head) return head
  throw new GitError(
    'branch',
    branch === undefined
      ? 'The repository has neither a branch main or master nor a default branch. Push a commit, or name the branch.'
      : `The repository has no branch "${branch}". Check the name of the branch, or push it.`,
  )
}

/** As written by `ls-remote`. */
const line = '--format=%(objectname)%09%(refname)'
const currentLine = '--format=%(if)%(HEAD)%(then)ref: %(refname)%09HEAD%0a%(objectname)%09HEAD%(end)'
const currentHead = (output: string): Head | undefined => chooseHead(output)

/**
 * Returns the full id of a commit in the branch's history. Only the history itself is fetched and
 * searched, because a server also returns commits of forks by id. Throws GitError('commit').
 */
export async function searchCommit(
  server: RemoteRepository,
  place: Place,
  question: { readonly head: Head; readonly commit: string; readonly signal: AbortSignal },
): Promise<string> {
  const { head, commit, signal } = question
  // This depth means "all of it". It also rejects servers of the old protocol, which does not
  // support a depth.
  const flags = ['--depth=2147483647', '--filter=tree:0']
  return withHistory(server, place, { ...question, flags }, (gitDirectory) =>
    matchCommit(server, gitDirectory, { head, commit, signal }),
  )
}

/**
 * Returns the only commit of the head's history with these first digits. Throws GitError('commit').
 */
export async function matchCommit(
  { program, limits }: RemoteRepository,
  gitDirectory: string,
  { head, commit, signal }: { readonly head: Head; readonly commit: string; readonly signal: AbortSignal },
): Promise<string> {
  const args = ['rev-list', '--end-of-options', head.commit]
  const found: string[] = []
  for await (const id of records(program.open({ gitDirectory, args, signal, timeoutMs: limits.questionMs }), '\n')) {
    if (id.startsWith(commit)) found.push(id)
    if (found.length > 1 || found[0] === commit) break
  }
  const [id, another] = found
  if (another !== undefined) {
    throw new GitError('commit', `Several commits begin with ${commit}. Use more digits of the commit id.`)
  }
  if (id !== undefined) return id
  throw new GitError(
    'commit',
    `Commit ${commit} is not on the branch "${head.branch}". Check the id, or push the commit to this branch.`,
  )
}

/** Maximum number of listed directories. A form shows all of them. */
const mostDirectories = 10_000

/**
 * Returns the names of the directories directly under a directory of the branch's head, sorted.
 * Throws GitError('path', 'limits').
 */
export async function readDirectories(
  server: RemoteRepository,
  place: Place,
  question: { readonly head: Head; readonly directory: string; readonly signal: AbortSignal },
): Promise<string[]> {
  const { head, directory, signal } = question
  const flags = ['--depth=1', '--filter=tree:0']
  return withHistory(server, place, { ...question, flags }, async (gitDirectory) => {
    const listing = server.program.open({
      gitDirectory,
      // Trees arrive one by one while they are read.
      ...(typeof place === 'string' ? {} : { remote: place }),
      args: [
        'ls-tree',
        '-z',
        '--full-tree',
        '--end-of-options',
        head.commit,
        ...(directory === '' ? [] : [`${inUtf8(directory)}/`]),
      ],
      signal,
      timeoutMs: server.limits.questionMs,
      maxBytes: maxListing,
    })
    const names: string[] = []
    let isThere = directory === ''
    for await (const record of records(listing, '\0')) {
      isThere = true
      const parsed = parseTreeRecord(record)
      if (parsed?.entry.kind !== 'directory') continue
      names.push(inUtf8(parsed.path.slice(parsed.path.lastIndexOf('/') + 1)))
      if (names.length > mostDirectories) throw new GitError('limits', tooMany(directory))
    }
    if (isThere) return names.sort()
    throw new GitError('path', `The branch "${head.branch}" has no directory "${shown(directory)}".`)
  })
}

const tooMany = (directory: string): string =>
  `${directory === '' ? 'The repository' : `"${shown(directory)}"`} has more than ${mostDirectories} ` +
  'directories, which are not listed. Write the path instead.'

const inUtf8 = (path: string): string => Buffer.from(path, 'latin1').toString()

/**
 * Opens the repository on this disk, or the part of the head's history that the flags fetch, while
 * `read` runs.
 */
export async function withHistory<T>(
  server: RemoteRepository,
  place: Place,
  question: { readonly head: Head; readonly flags: readonly string[]; readonly signal: AbortSignal },
  read: (gitDirectory: string) => Promise<T>,
): Promise<T> {
  if (typeof place === 'string') return read(place)
  const { head, flags, signal } = question
  const gitDirectory = await fetchInto(server, place, {
    refspec: head.commit,
    commit: head.commit,
    flags,
    signal,
    timeoutMs: server.limits.questionMs,
  })
  try {
    return await read(gitDirectory)
  } finally {
    await server.scratch.remove(gitDirectory)
  }
}
