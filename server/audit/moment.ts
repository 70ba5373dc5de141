import { AppError } from '../lib/error.ts'

/**
 * Parses a time of a query: RFC 3339, or a number since 1970 in seconds, milli-, micro- or
 * nanoseconds, recognized by its size.
 */
export function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const date = new Date(/^\d{1,19}$/.test(text) ? toMs(text) : /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN)
  if (Number.isFinite(date.getTime()) && date.getUTCFullYear() < 10_000) return date
  throw new AppError('invalid', `${name} must be a time such as 2026-01-31T12:00:00Z, or a number since 1970.`)
}

/** Eleven digits of seconds reach to the year 5138, and so do fourteen of milliseconds. */
function toMs(digits: string): number {
  if (digits.length <= 11) return Number(digits) * 1000
  if (digits.length <= 14) return Number(digits)
  return Math.floor(Number(digits) / (digits.length <= 17 ? 1e3 : 1e6))
}
