import { randomBytes } from 'node:crypto'
import { access, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Removes empty repositories once no call can push to them, so that a rejected push leaves none
 * behind.
 */
export interface EmptyRepositories {
  /**
   * Keeps the repository until the last holder disposes of it. Then it is removed if nothing was
   * ever stored in it. `removed` runs after the removal of a repository, before the next holder.
   */
  hold(path: string, removed?: () => Promise<void>): Promise<AsyncDisposable>
}

export function createEmptyRepositories(): EmptyRepositories {
  const holders = new Map<string, number>()
  const removals = new Map<string, Promise<void>>()

  async function release(path: string, removed?: () => Promise<void>): Promise<void> {
    const left = (holders.get(path) ?? 1) - 1
    if (left > 0) return void holders.set(path, left)
    holders.delete(path)
    const removal = removeIfEmpty(path)
      .then((isRemoved) => (isRemoved ? removed?.() : undefined))
      .finally(() => removals.delete(path))
    removals.set(path, removal)
    await removal
  }

  return {
    async hold(path, removed) {
      for (let removal = removals.get(path); removal; removal = removals.get(path)) await removal.catch(() => {})
      holders.set(path, (holders.get(path) ?? 0) + 1)
      return { [Symbol.asyncDispose]: () => release(path, removed) }
    },
  }
}

async function removeIfEmpty(path: string): Promise<boolean> {
  if (!(await isEmpty(path))) return false
  const gone = join(path, '..', `.gone-${randomBytes(8).toString('hex')}`)
  await rename(path, gone)
  await rm(gone, { recursive: true, force: true })
  return true
}

/**
 * Whether a repository exists that has neither references nor objects; what git has not accepted
 * yet does not count.
 */
async function isEmpty(path: string): Promise<boolean> {
  const objects = await readdir(join(path, 'objects')).catch(whenMissing)
  if (!objects || objects.some((name) => !/^(?:info$|pack$|incoming-|tmp_objdir-)/.test(name))) return false
  const packs = await readdir(join(path, 'objects/pack')).catch(whenMissing)
  if (packs?.length !== 0) return false
  const hasPackedRefs = await access(join(path, 'packed-refs')).then(() => true, whenMissing)
  if (hasPackedRefs) return false
  const refs = await readdir(join(path, 'refs'), { recursive: true, withFileTypes: true })
  return refs.every((entry) => entry.isDirectory())
}

function whenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
