import { clientGroup } from '@quayside/contract/forwarded.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { createSlots } from '../lib/slots.ts'
import { admitAttempt } from './attempts.ts'
import { createClientTurns } from './client-turns.ts'
import { returnAttempt } from './sign-in-store.ts'

/**
 * Limits what a client makes the platform ask outside issuers. `redeem` exchanges an answer for an
 * account, and returns undefined if there is none. Throws 429 after too many failures of the client
 * in a row, or if many of its answers wait, and 503 after 15 s in the queue.
 */
export type OutsideLimit = <T>(address: string, redeem: () => Promise<T | undefined>) => Promise<T | undefined>

/** Failures in a row before a client waits. */
const limit = 20

export function createOutsideLimit(options: { readonly database: Database; readonly clock: Clock }): OutsideLimit {
  const inTurn = createClientTurns(createSlots(32, { perOwner: 2, mostWaiting: 10, reserve: 32 }))
  return (address, redeem) =>
    inTurn(address, async () => {
      const subject = `outside ${clientGroup(address)}`
      await admitAttempt(options, [{ subject, limit }])
      const found = await redeem()
      if (found !== undefined) await returnAttempt(options.database, subject)
      return found
    })
}
