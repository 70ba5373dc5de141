import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { writeBareRepository } from './bare-repository.ts'
import { GitError } from './git.ts'

/** Private bare repositories for one fetch or one checkout each. */
export interface Scratch {
  /** Creates an empty one, mode 0700, for commits with ids of the length of `commit`. */
  create(commit: string): Promise<string>
  remove(directory: string): Promise<void>
  /** Removes the repositories of an earlier process. */
  sweep(): Promise<void>
}

/** Only this Scratch may use `root` and everything under it. */
export function createScratch(root: string): Scratch {
  const live = new Set<string>()

  async function remove(directory: string): Promise<void> {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 })
    live.delete(directory)
  }

  return {
    async create(commit) {
      const directory = join(root, randomBytes(16).toString('hex'))
      live.add(directory)
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await writeBareRepository(directory, {
        branch: 'none',
        objectFormat: commit.length === 64 ? 'sha256' : 'sha1',
      })
      return directory
    },
    remove,
    async sweep() {
      await mkdir(root, { recursive: true, mode: 0o700 })
      const left = (await readdir(root)).map((name) => join(root, name)).filter((directory) => !live.has(directory))
      await Promise.all(left.map(remove))
    },
  }
}

/**
 * Runs a fetch into a scratch repository and kills it if the repository grows beyond `maxBytes`.
 * Throws GitError('limits') then. It checks four times a second, so data that arrives in between
 * may exceed the limit.
 */
export async function withinSize<T>(
  options: {
    readonly directory: string
    readonly maxBytes: number
    readonly clock: Clock
    readonly signal: AbortSignal
  },
  fetch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { directory, maxBytes, clock, signal } = options
  const tooLarge = new AbortController()
  const done = new AbortController()
  const check = async (): Promise<void> => {
    if ((await packedBytes(directory)) <= maxBytes) return
    tooLarge.abort(
      new GitError('limits', `The repository is larger than ${Math.round(maxBytes / 1024 ** 2)} MiB. Make it smaller.`),
    )
  }
  const watch = async (): Promise<void> => {
    while (!done.signal.aborted && !tooLarge.signal.aborted) {
      await clock.sleep(250, done.signal).catch(() => undefined)
      await check()
    }
  }
  const watching = watch()
  try {
    return await fetch(AbortSignal.any([signal, tooLarge.signal]))
  } finally {
    done.abort()
    await watching
    tooLarge.signal.throwIfAborted()
  }
}

async function packedBytes(directory: string): Promise<number> {
  const folder = join(directory, 'objects/pack')
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
