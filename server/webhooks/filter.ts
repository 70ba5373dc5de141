import { type WebhookEvent, type WebhookEventSpelling, webhookEventSpellings } from '@quayside/contract/enums.ts'
import { matchesWildcard } from '../lib/wildcard.ts'
import type { DeploymentPayload } from './event-store.ts'
import type { WebhookRow } from './webhook-store.ts'

type Filters = Pick<WebhookRow, 'enabled' | 'events' | 'project_names_filter' | 'environment_types_filter'>

/** Whether a webhook wants an event. Empty filters match everything. */
export function wants(webhook: Filters, type: WebhookEvent, payload: DeploymentPayload): boolean {
  const { events, project_names_filter: names, environment_types_filter: modes } = webhook
  if (!webhook.enabled || spellingOf(events, type) === undefined) return false
  if (names.length > 0 && !names.some((name) => matchesWildcard(name, payload.project.name, { isLiteral: true })))
    return false
  return modes.length === 0 || modes.some((mode) => mode === payload.environment.mode)
}

/**
 * Returns the spelling under which the webhook registered the event, or undefined if it did not.
 */
export const spellingOf = (
  events: readonly WebhookEventSpelling[],
  type: WebhookEvent,
): WebhookEventSpelling | undefined => events.find((spelling) => webhookEventSpellings[spelling] === type)
