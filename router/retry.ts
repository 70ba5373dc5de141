import { limits } from './limits.ts'

export interface Failure {
  /** How many times the request was tried, this failed try included. */
  readonly tries: number
  /** Milliseconds since the first try began. */
  readonly elapsedMs: number
  /** Bytes of the request went out. */
  readonly sent: boolean
  /** Bytes of an answer came in. */
  readonly answered: boolean
  /** The method changes nothing and the request has no body. */
  readonly safe: boolean
  /** The failure lies in the request itself or was a time-out: another try ends the same way or waits as long again. */
  readonly final: boolean
}

const delaysMs = [0, 10, 25, 50, 100, 200, 400]

/**
 * Milliseconds until the next try; undefined: give up. What never left may always be tried again; what left, only where
 * doing it twice is the same as doing it once.
 */
export function retryDelay(failure: Failure): number | undefined {
  if (failure.answered || failure.final) return undefined
  if (failure.sent && !failure.safe) return undefined
  const delay = delaysMs[Math.min(failure.tries, delaysMs.length) - 1] ?? 0
  return failure.elapsedMs + delay <= limits.retryMs ? delay : undefined
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
export const isSafeMethod = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
