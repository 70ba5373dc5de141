import type { CanaryCount } from '@quayside/contract/canary-counts.ts'
import { createSharedCall } from '../lib/shared-call.ts'
import type { Router } from '../routers/index.ts'

/** How often a canary deployment looks at its requests and replicas, in ms. */
const lookMs = 1000
/** The time between two looks at any canary deployments of one organization, in ms. */
const ownLookMs = 20

/**
 * The looks of all canary deployments, which hold no place among the running ones. So that they
 * cost no more if there are many, an organization with more than 50 looks at each less often, and
 * one question about counts serves all deployments on a router.
 */
export interface CanaryLooks {
  /** Registers a canary deployment of an organization until it is disposed of. */
  begin(organizationId: string): Disposable
  /** Returns the time until the next look at a canary deployment of the organization, in ms. */
  everyMs(organizationId: string): number
  /** Returns the counts of a router, from a question that began after this call. */
  counts(router: Pick<Router, 'canaryCounts'>, signal: AbortSignal): Promise<readonly CanaryCount[]>
}

export function createCanaryLooks(): CanaryLooks {
  const running = new Map<string, number>()
  const add = (id: string, by: 1 | -1): void => {
    const count = (running.get(id) ?? 0) + by
    if (count > 0) running.set(id, count)
    else running.delete(id)
  }
  const asking = new WeakMap<object, (signal: AbortSignal) => Promise<readonly CanaryCount[]>>()
  return {
    begin: (id) => {
      add(id, 1)
      return { [Symbol.dispose]: () => add(id, -1) }
    },
    everyMs: (id) => Math.max(lookMs, (running.get(id) ?? 0) * ownLookMs),
    counts: (router, signal) => {
      // The question of several deployments continues if one of them ends. It has its own limit.
      const ask = asking.get(router) ?? createSharedCall(() => router.canaryCounts(new AbortController().signal))
      asking.set(router, ask)
      return ask(signal)
    },
  }
}
