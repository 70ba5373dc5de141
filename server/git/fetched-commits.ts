import { createHash } from 'node:crypto'
import type { Attempt } from '../lib/attempt.ts'
import { basicAuthorization, type Remote } from './environment.ts'
import { fetchInto, type RemoteRepository } from './remote-repository.ts'
import { readTags, type Tags } from './tags.ts'

/** A local commit for one of its users. */
export interface FetchedCommit {
  readonly gitDirectory: string
  readonly tags: Tags
  /** The last user's call removes the commit. */
  release(): Promise<void>
}

type Fetched = Pick<FetchedCommit, 'gitDirectory' | 'tags'> & { users: number }

/**
 * Fetches commits, each alone and without history. A commit that is still open is not fetched
 * again.
 */
export function createFetchedCommits(
  server: RemoteRepository,
): (remote: Remote, commit: string, attempt: Attempt) => Promise<FetchedCommit> {
  const open = new Map<string, Fetched>()

  function use(key: string, fetched: Fetched): FetchedCommit {
    fetched.users++
    return {
      gitDirectory: fetched.gitDirectory,
      tags: fetched.tags,
      async release() {
        if (--fetched.users > 0) return
        if (open.get(key) === fetched) open.delete(key)
        await server.scratch.remove(fetched.gitDirectory)
      },
    }
  }

  return async (remote, commit, attempt) => {
    const key = keyOf(remote, commit)
    const already = open.get(key)
    if (already) return use(key, already)
    attempt.output.line(`Fetching commit ${commit} from ${remote.url.host}`)
    const tagged = readTags(server, remote, attempt.signal).catch(() => new Map<string, string>())
    const gitDirectory = await fetchInto(server, remote, {
      refspec: commit,
      commit,
      flags: ['--depth=1', '--progress'],
      timeoutMs: server.limits.checkoutMs,
      ...attempt,
    })
    const fetched = { gitDirectory, tags: await tagged, users: 0 }
    if (!open.has(key)) open.set(key, fetched)
    return use(key, fetched)
  }
}

/** Only a caller with the same credential shares a fetched commit. */
const keyOf = ({ url, credential }: Remote, commit: string): string =>
  createHash('sha256')
    .update([url.href, commit, credential ? basicAuthorization(credential) : ''].join('\n'))
    .digest('hex')
