import { clientGroup } from '@quayside/contract/forwarded.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { createSlots } from '../lib/slots.ts'
import { admitAttempt } from './attempts.ts'
import { createClientTurns } from './client-turns.ts'
import { countFailure, type FailureBudget, returnFailure } from './outside-state-store.ts'
import { returnAttempt } from './sign-in-store.ts'

/** The address of the client, and the issuer that is asked. */
interface Asking {
  readonly address: string
  readonly issuer: string
}

/**
 * Limits what clients make the platform ask outside issuers. `redeem` exchanges an answer for an
 * account, and returns undefined if there is none. Throws 429 after too many failures of the client
 * in a row or of the issuer, or if many answers of the client wait. Throws 503 after 15 s in the
 * queue.
 */
export type OutsideLimit = <T>(asking: Asking, redeem: () => Promise<T | undefined>) => Promise<T | undefined>

/** Failures in a row before a client waits. */
const limit = 20

/** Every issuer gets so many failed answers from all clients together. */
const ofIssuer: FailureBudget = { most: 200, perSecond: 1 }
/** Clients with more failures in a row leave half of them to others. */
const fewFailures = 2

export function createOutsideLimit(options: { readonly database: Database; readonly clock: Clock }): OutsideLimit {
  const { database, clock } = options
  const inTurn = createClientTurns(createSlots(32, { perOwner: 2, mostWaiting: 10, reserve: 32 }))

  async function admitAtIssuer(issuer: string, failures: number): Promise<void> {
    const most = failures > fewFailures ? ofIssuer.most / 2 : ofIssuer.most
    const seconds = await countFailure(database, { ...ofIssuer, most, issuer }, clock.now())
    if (seconds === undefined) return
    const message = `Too many sign-ins at ${new URL(issuer).host} failed. Try again in ${seconds} s.`
    throw new AppError('tooManyRequests', message, { retryAfterSeconds: seconds })
  }

  return ({ address, issuer }, redeem) =>
    inTurn(address, async () => {
      const subject = `outside ${clientGroup(address)}`
      const failures = await admitAttempt(options, [{ subject, limit }])
      try {
        await admitAtIssuer(issuer, failures)
      } catch (error) {
        await returnAttempt(database, subject)
        throw error
      }
      const found = await redeem()
      if (found === undefined) return undefined
      await returnAttempt(database, subject)
      await returnFailure(database, issuer)
      return found
    })
}
