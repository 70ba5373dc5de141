import { type WebhookEvent, type WebhookEventSpelling, webhookEventSpellings } from '@quayside/contract/enums.ts'
import type { DeploymentPayload } from './event-store.ts'
import type { WebhookRow } from './webhook-store.ts'

type Filters = Pick<WebhookRow, 'enabled' | 'events' | 'project_names_filter' | 'environment_types_filter'>

/** Pure: whether a webhook wants to be told of an event. Empty filters let everything pass. */
export function wants(webhook: Filters, type: WebhookEvent, payload: DeploymentPayload): boolean {
  const { events, project_names_filter: names, environment_types_filter: modes } = webhook
  if (!webhook.enabled || spellingOf(events, type) === undefined) return false
  if (names.length > 0 && !names.some((pattern) => matches(pattern, payload.project.name))) return false
  return modes.length === 0 || modes.some((mode) => mode === payload.environment.mode)
}

/** The spelling under which the webhook registered the event; undefined when it did not. */
export const spellingOf = (
  events: readonly WebhookEventSpelling[],
  type: WebhookEvent,
): WebhookEventSpelling | undefined => events.find((spelling) => webhookEventSpellings[spelling] === type)

/** `*` stands for any text; upper and lower case are the same. Linear: no pattern of a user's becomes a regular expression. */
export function matches(pattern: string, name: string): boolean {
  const parts = pattern.toLowerCase().split('*')
  const text = name.toLowerCase()
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  if (parts.length === 1) return text === first
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let position = first.length
  const end = text.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, position)
    if (found === -1 || found + part.length > end) return false
    position = found + part.length
  }
  return true
}
