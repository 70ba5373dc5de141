import type { RetryCondition, RetryRule } from '@quayside/contract/routes.ts'
import { limits } from './limits.ts'

export interface Failure {
  /** How many times the request was tried, including this failed try. */
  readonly tries: number
  /** Milliseconds since the first try began. */
  readonly elapsedMs: number
  /** Whether any byte of the request was sent. */
  readonly sent: boolean
  /** Whether any byte of a response arrived. */
  readonly answered: boolean
  /** Whether the method is safe and the request has no body. */
  readonly safe: boolean
  /** Whether a retry is pointless: the request itself is at fault, or it timed out. */
  readonly final: boolean
  /** The status of the response, if the failure is a response. */
  readonly status?: number | undefined
}

const delaysMs = [0, 10, 25, 50, 100, 200, 400]

/**
 * Returns the milliseconds until the next try, or undefined to stop. A request that was never sent
 * may always be retried. One that was sent is retried only if it is safe.
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

/** Returns whether a rule retries a response of this status. */
export function isRetriedStatus(status: number, { on = [], statuses = [] }: RetryRule): boolean {
  if (statuses.includes(status)) return true
  if (on.includes('5xx') && status >= 500) return true
  if (on.includes('gateway-error') && status >= 502 && status <= 504) return true
  return on.includes('retriable-4xx') && status === 409
}

/** Methods that change nothing (RFC 9110, 9.2.1). */
export const isSafeMethod = (method: string): boolean => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
