import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { blockedUntil, type Counted, countAttempt } from './sign-in-store.ts'

/**
 * Counts an attempt against each subject before it is judged. Throws 429 with the seconds to wait
 * if one of them has too many failures. That attempt is not counted. Returns the highest count,
 * with this attempt.
 */
export async function admitAttempt(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  counted: readonly Counted[],
): Promise<number> {
  const now = clock.now()
  const until = await blockedUntil(
    database,
    counted.map(({ subject }) => subject),
    now,
  )
  if (until) {
    const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
    throw new AppError('tooManyRequests', `Too many attempts. Try again in ${seconds} s.`, {
      retryAfterSeconds: seconds,
    })
  }
  return countAttempt(database, counted, now)
}
