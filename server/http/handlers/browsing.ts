import { GitError } from '../../git/index.ts'
import { AppError } from '../../lib/error.ts'
import { createSlots, type Slots } from '../../lib/slots.ts'

/** How long a form waits for a repository, a registry or a provider. */
const browseMs = 15_000
/** What one organization reads of the outside at the same time; further questions wait. */
const mostBrowsed = 4

/** Runs questions to the outside for one organization: a few at a time, and none for longer than a form waits. */
export type Browse = <T>(organizationId: string, work: (signal: AbortSignal) => Promise<T>) => Promise<T>

export function createBrowsing(): Browse {
  const slots = new Map<string, Slots>()
  const slotsOf = (organizationId: string): Slots => {
    const own = slots.get(organizationId) ?? createSlots(mostBrowsed)
    slots.set(organizationId, own)
    return own
  }
  return async (organizationId, work) => {
    const signal = AbortSignal.timeout(browseMs)
    return slotsOf(organizationId)
      .run(signal, () => work(signal))
      .catch(refuse)
  }
}

function refuse(error: unknown): never {
  if (error instanceof GitError) throw new AppError('invalid', error.message, { cause: error })
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const message = `What was to be read did not answer within ${browseMs / 1000} s. Check its address, and try again later.`
    throw new AppError('invalid', message, { cause: error })
  }
  throw error
}
