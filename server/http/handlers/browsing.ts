import type { Caller } from '../../access/index.ts'
import { GitError } from '../../git/index.ts'
import { AppError } from '../../lib/error.ts'
import { createKeyedSlots } from '../../lib/keyed-slots.ts'

/** How long a form waits for a repository, a registry or a provider. */
const browseMs = 15_000
/**
 * The limits of concurrent remote requests, of one organization and of one of its callers. Further
 * requests wait.
 */
const [mostBrowsed, perOwner] = [4, 2]

type BrowsingCaller = Pick<Caller, 'id' | 'organizationId'>

/** Runs a caller's remote requests: a few at a time, each no longer than a form waits. */
export type Browse = <T>(caller: BrowsingCaller, work: (signal: AbortSignal) => Promise<T>) => Promise<T>

export function createBrowsing(): Browse {
  const slots = createKeyedSlots(mostBrowsed, { perOwner })
  return async ({ id, organizationId }, work) => {
    const signal = AbortSignal.timeout(browseMs)
    try {
      using _ = await slots.take(organizationId, signal, id)
      return await work(signal)
    } catch (error) {
      return refuse(error)
    }
  }
}

function refuse(error: unknown): never {
  if (error instanceof GitError) throw new AppError('invalid', error.message, { cause: error })
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const message = `The remote server did not answer within ${browseMs / 1000} s. Check its address, and try again later.`
    throw new AppError('invalid', message, { cause: error })
  }
  throw error
}
