import { clientGroup } from '@quayside/contract/forwarded.ts'
import { AppError } from '../lib/error.ts'
import { type Slots, TooManyWaiting } from '../lib/slots.ts'

/** Runs work for a client by its address. An IPv6 client is its /64. */
export type ClientTurns = <T>(address: string, work: () => Promise<T>) => Promise<T>

const patienceMs = 15_000

/**
 * Lets clients take turns at slots. Throws 429 if too much of the client waits, and 503 after 15 s
 * in the queue.
 */
export const createClientTurns =
  (slots: Slots): ClientTurns =>
  async (address, work) => {
    using _ = await slots.take(AbortSignal.timeout(patienceMs), clientGroup(address)).catch(refuse)
    return await work()
  }

function refuse(cause: unknown): never {
  if (cause instanceof TooManyWaiting) {
    const message = 'Too many sign-ins from your address are waiting. Try again in a few seconds.'
    throw new AppError('tooManyRequests', message, { cause })
  }
  throw new AppError('unavailable', 'Too many people are signing in. Try again in a few seconds.', { cause })
}
