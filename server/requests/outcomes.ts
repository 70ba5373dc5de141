import { outcomeEvents } from '@quayside/contract/resources/organization-event.ts'
import type { Action } from '@quayside/contract/states.ts'
import type { Outcome } from '../audit/index.ts'

/**
 * What the record of changes calls the ends of the services' parts. A cancelled part is recorded by
 * its cancellation.
 */
export function outcomesOf(action: Action): readonly Outcome[] {
  const [well, badly] = outcomeEvents[action]
  return [
    { status: 'SUCCESS', event: well },
    { status: 'ERROR', event: badly },
  ]
}
