import { createHmac } from 'node:crypto'
import type { DueRow } from './delivery-store.ts'
import type { DeploymentPayload } from './event-store.ts'
import { spellingOf } from './filter.ts'

/**
 * Returns the body of a delivery: the platform's JSON, or a text for a Slack-compatible receiver.
 */
export function bodyOf(row: DueRow): string {
  const event_type = spellingOf(row.events, row.type) ?? row.type
  if (row.kind === 'SLACK') return JSON.stringify({ text: slackText(event_type, row.payload) })
  return JSON.stringify({
    event_type,
    created_at: row.event_created_at.toISOString(),
    payload_type: 'DEPLOYMENT',
    payload_id: row.payload_id,
    payload: row.payload,
  })
}

function slackText(event: string, { project, environment, applications, terraforms, logs }: DeploymentPayload): string {
  const named = event === 'STACK_DRIFTED' ? terraforms : applications
  const names = named.map(({ name }) => name).join(', ')
  return [`${event}: ${names} in ${project.name} / ${environment.name}`, ...logs.slice(0, 5)].join('\n')
}

/**
 * Returns the headers of the Standard Webhooks signature (its specification, version 1):
 * HMAC-SHA-256 of `id.timestamp.body`. The id is the event's and is the same for every retry.
 */
export function signatureHeaders(id: string, sentAt: Date, body: string, key: Buffer): Record<string, string> {
  const timestamp = Math.floor(sentAt.getTime() / 1000)
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}

/** The key's bytes: base64 after `whsec_`, else the text itself. */
export const signingKey = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret)
