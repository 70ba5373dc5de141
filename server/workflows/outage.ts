import { databaseErrorToAppError } from '../database/index.ts'

/** A statement got no answer in time. Its connection may be dead without an error. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

/**
 * Whether the database was temporarily unable to work, so that the same statement may succeed
 * later. It inspects causes. An error from anything but the database is not an outage, whatever its
 * code.
 */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof NoAnswerError || wasIdle(cause)) return true
    if (databaseErrorToAppError(cause)?.code === 'unavailable') return true
  }
  return false
}

/** PostgreSQL ended the session because its transaction was idle for too long. */
const wasIdle = (error: Error): boolean => 'code' in error && (error.code === '25P03' || error.code === '25P04')

/**
 * Milliseconds to wait after that many consecutive failures: doubles from `firstMs` to `mostMs`,
 * minus up to a half at random.
 */
export const backOff = (
  failures: number,
  firstMs: number,
  mostMs: number,
  random: () => number = Math.random,
): number => Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (1 - random() / 2)
