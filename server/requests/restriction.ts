import type { Action } from '@quayside/contract/states.ts'

/** The cluster of a request, and what its organization may do there. */
export interface Place {
  readonly cluster: string
  /** Whether an engine of this installation runs workloads on the cluster. */
  readonly hasEngine: boolean
  /** Whether the cluster is stopped or about to be. */
  readonly isStopped: boolean
  /** Whether it is the demo cluster, for trying the platform. */
  readonly isDemo: boolean
  /** The organization's `billing_deployment_restriction`; null for most. */
  readonly restriction: string | null
}

/** Whether an action starts something on a cluster. The others only stop or remove. */
export const startsSomething = (action: Action): boolean => action === 'DEPLOY' || action === 'RESTART'

/**
 * Returns why an action may not start anything on that cluster; undefined if it may. A trial
 * without a card (`NO_CREDIT_CARD`) may use the demo cluster. Every other restriction forbids all.
 */
export function placeRefusal(
  action: Action,
  { cluster, hasEngine, isStopped, isDemo, restriction }: Place,
): { readonly code: 'invalid' | 'conflict'; readonly message: string } | undefined {
  if (!startsSomething(action)) return undefined
  if (restriction !== null && !(restriction === 'NO_CREDIT_CARD' && isDemo)) {
    const where =
      restriction === 'NO_CREDIT_CARD' ? `to cluster "${cluster}"; only the demo cluster is free` : 'anything'
    return { code: 'conflict', message: `The organization is restricted (${restriction}): it cannot deploy ${where}.` }
  }
  if (isStopped) return { code: 'conflict', message: `Cluster "${cluster}" is stopped. Deploy the cluster first.` }
  if (hasEngine) return undefined
  const message =
    `Cluster "${cluster}" is a record: no engine of this installation runs anything on it. Clone the ` +
    'environment to the built-in cluster.'
  return { code: 'invalid', message }
}
