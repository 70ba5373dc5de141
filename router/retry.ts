import type { RetryCondition, RetryRule } from '@quayside/contract/routes.ts'
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
  /** The failure is an answer of this status. */
  readonly status?: number | undefined
}

const delaysMs = [0, 10, 25, 50, 100, 200, 400]

/**
 * Milliseconds until the next try; undefined: give up. What never left may always be tried again; what left, only where
 * doing it twice is the same as doing it once.
 */
export function retryDelay(failure: Failure, rule?: RetryRule): number | undefined {
  if (failure.answered || failure.final) return undefined
  if (failure.sent && !failure.safe) return undefined
  const delay = delaysMs[Math.min(failure.tries, delaysMs.length) - 1] ?? 0
  if (rule) return failure.tries <= rule.times && isRetried(failure, rule) ? delay : undefined
  return failure.elapsedMs + delay <= limits.retryMs ? delay : undefined
}

function isRetried({ sent, status }: Failure, rule: RetryRule): boolean {
  if (status !== undefined) return isRetriedStatus(status, rule)
  if (!rule.on) return true
  const named: readonly RetryCondition[] = sent ? ['reset', '5xx'] : ['connect-failure', 'reset-before-request', '5xx']
  return named.some((condition) => rule.on?.includes(condition))
}

/** Whether an answer of this status is tried again. */
export function isRetriedStatus(status: number, { on = [], statuses = [] }: RetryRule): boolean {
  if (statuses.includes(status)) return true
  if (on.includes('5xx') && status >= 500) return true
  if (on.includes('gateway-error') && status >= 502 && status <= 504) return true
  return on.includes('retriable-4xx') && status === 409
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
export const isSafeMethod = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
