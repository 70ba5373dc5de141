import { clientGroup } from '@quayside/contract/forwarded.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { createSlots } from '../lib/slots.ts'
import { admitAttempt } from './attempts.ts'
import { returnAttempt } from './sign-in-store.ts'

/**
 * Limits what a client makes the platform ask outside issuers. `redeem` exchanges an answer for an
 * account, and returns undefined if there is none. Throws 429 after too many failures of the client
 * in a row, or if many of its answers wait. An IPv6 client is its /64.
 */
export type OutsideLimit = <T>(address: string, redeem: () => Promise<T | undefined>) => Promise<T | undefined>

/** Failures in a row before a client waits. */
const limit = 20
const patienceMs = 15_000

export function createOutsideLimit(options: { readonly database: Database; readonly clock: Clock }): OutsideLimit {
  const slots = createSlots(32, { perOwner: 2, mostWaiting: 10, reserve: 32 })
  return async (address, redeem) => {
    const client = clientGroup(address)
    using _ = await slots.take(AbortSignal.timeout(patienceMs), client).catch((cause: unknown) => {
      const message = 'Too many sign-ins from your address are waiting. Try again in a few seconds.'
      throw new AppError('tooManyRequests', message, { cause })
    })
    const subject = `outside ${client}`
    await admitAttempt(options, [{ subject, limit }])
    const found = await redeem()
    if (found !== undefined) await returnAttempt(options.database, subject)
    return found
  }
}
