import { outcomeEvents } from '@quayside/contract/resources/organization-event.ts'
import type { Action } from '@quayside/contract/states.ts'
import type { Outcome } from '../audit/index.ts'

/**
 * Returns the audit events of the possible outcomes of an action. A cancellation is recorded by its
 * own request.
 */
export function outcomesOf(action: Action): readonly Outcome[] {
  const [well, badly] = outcomeEvents[action]
  return [
    { status: 'SUCCESS', event: well },
    { status: 'ERROR', event: badly },
  ]
}
