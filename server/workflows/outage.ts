import { databaseErrorToAppError } from '../database/index.ts'

/** A statement that got no answer in time: its connection may be dead without having said so. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

/**
 * Whether the database could not do its work just now, so that the same statement may succeed a moment later. Looks
 * through causes. An error of anything else than the database is no outage, whatever its code.
 */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof NoAnswerError || wasIdle(cause)) return true
    if (databaseErrorToAppError(cause)?.code === 'unavailable') return true
  }
  return false
}

/** PostgreSQL ended the session because its transaction waited too long for us. */
const wasIdle = (error: Error): boolean => 'code' in error && (error.code === '25P03' || error.code === '25P04')

/** Milliseconds to wait after that many failures in a row: doubling from `firstMs` to `mostMs`, with up to a half taken off by chance. */
export const backOff = (
  failures: number,
  firstMs: number,
  mostMs: number,
  random: () => number = Math.random,
): number => Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30)) * (1 - random() / 2)
