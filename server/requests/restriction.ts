import type { Action } from '@quayside/contract/states.ts'

/** Where a request is to take effect, and what its organization may there. */
export interface Place {
  readonly cluster: string
  /** Something of this installation runs workloads on that cluster. */
  readonly hasEngine: boolean
  /** The cluster that is there for trying the platform out. */
  readonly isDemo: boolean
  /** The organization's `billing_deployment_restriction`; null for most. */
  readonly restriction: string | null
}

/** Actions that bring something to a cluster; the others only take away. */
export const startsSomething = (action: Action): boolean => action === 'DEPLOY' || action === 'RESTART'

/**
 * Why nothing may be brought to that cluster now, or undefined when it may. A trial without a card
 * (`NO_CREDIT_CARD`) may use the demo cluster; every other restriction forbids all.
 */
export function placeRefusal(
  action: Action,
  { cluster, hasEngine, isDemo, restriction }: Place,
): { readonly code: 'invalid' | 'conflict'; readonly message: string } | undefined {
  if (!startsSomething(action)) return undefined
  if (restriction !== null && !(restriction === 'NO_CREDIT_CARD' && isDemo)) {
    const where =
      restriction === 'NO_CREDIT_CARD' ? `to cluster "${cluster}"; only the demo cluster is free` : 'anything'
    return { code: 'conflict', message: `The organization is restricted (${restriction}): it cannot deploy ${where}.` }
  }
  if (hasEngine) return undefined
  const message =
    `Cluster "${cluster}" is a record: no engine of this installation runs anything on it. Clone the ` +
    'environment to the built-in cluster.'
  return { code: 'invalid', message }
}
