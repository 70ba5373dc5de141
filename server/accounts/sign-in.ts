import { createHash } from 'node:crypto'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { admitAttempt } from './attempts.ts'
import { findPasswords } from './password-store.ts'
import { findRight, inTurnOfClient } from './passwords.ts'
import { forgiveAttempt } from './sign-in-store.ts'

export interface Attempt {
  readonly email: string
  readonly password: string
  /** The address of the client. */
  readonly address: string
}

/** The subject that counts the attempts of a client. */
export const clientSubject = (address: string): string => `client ${clientGroup(address)}`

/**
 * Signs a person in by address and password and returns the account's id. If several accounts have
 * the address, the password selects one. An unknown address and a
 * wrong password get the same message after the same time (401). Failures count for the address and
 * for the client: 429 while there are too many. Attempts of one client are judged one after the
 * other, so concurrent attempts see each other's failures. A rejected attempt is neither counted
 * nor hashed. `rightOf` is the comparison, which is slow on purpose.
 */
export function createSignIn({
  database,
  clock,
  rightOf = findRight,
}: {
  database: Database
  clock: Clock
  rightOf?: typeof findRight
}) {
  const judge = async ({ email, password, address }: Attempt): Promise<string> => {
    const account = `account ${createHash('sha256').update(email.trim().toLowerCase()).digest('base64url')}`
    const client = clientSubject(address)
    const counted = [
      { subject: account, limit: 5 },
      { subject: client, limit: 20 },
    ]
    await admitAttempt({ database, clock }, counted)
    const row = await rightOf(password, await findPasswords(database, email.trim()))
    if (!row) {
      throw new AppError('unauthorized', 'The email address or the password is wrong.')
    }
    await forgiveAttempt(database, account, client)
    return row.account_id
  }
  return (attempt: Attempt): Promise<string> => inTurnOfClient(attempt.address, () => judge(attempt))
}
