import { outcomeEvents, stackOutcomeEvents } from '@quayside/contract/resources/organization-event.ts'
import { stackActions } from '@quayside/contract/services/terraform.ts'
import type { Action } from '@quayside/contract/states.ts'
import type { Outcome } from '../audit/index.ts'

/**
 * Returns the audit events of the possible outcomes of an action. A cancellation is recorded by its
 * own request.
 */
export function outcomesOf(action: Action): readonly Outcome[] {
  const pairs = [null, ...stackActions].map((stack_action) => {
    const ofStack: Partial<Record<string, readonly [string, string]>> = stackOutcomeEvents
    const [well, badly] = ofStack[stack_action ?? ''] ?? outcomeEvents[action]
    return [
      { stack_action, status: 'SUCCESS', event: well },
      { stack_action, status: 'ERROR', event: badly },
    ] as const
  })
  return pairs.flat()
}
