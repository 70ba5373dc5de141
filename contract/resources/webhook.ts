import {
  environmentModes,
  type WebhookEventSpelling,
  webhookEventSpellings,
  webhookEvents,
  webhookKinds,
} from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, extension, List, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

/** The keys of the table. Object.keys loses their type. */
const spellings = Object.keys(webhookEventSpellings) as WebhookEventSpelling[]

const fields = {
  kind: Enum(webhookKinds),
  target_url: Type.String({ description: 'only ADMIN reads path and query; others read the path `/***`' }),
  target_secret_set: Type.Boolean(),
  description: Type.String(),
  enabled: Type.Boolean(),
  project_names_filter: Type.Array(Type.String()),
  environment_types_filter: Type.Array(Enum(environmentModes)),
}
/** A webhook as it is read, with canonical event names. */
export const Webhook = Type.Object({ ...base, ...fields, events: Type.Array(Enum(webhookEvents)) })
/** The response to create and replace: events as sent, and at creation the signing secret, once. */
export const WebhookSaved = Type.Object({
  ...base,
  ...fields,
  events: Type.Array(Enum(spellings)),
  signing_secret: Type.Optional(Type.String({ description: 'the key of the Standard Webhooks signature; shown once' })),
})

export const WebhookRequest = Type.Object({
  kind: Type.Optional(Enum(webhookKinds)),
  target_url: Text(2000, 1),
  target_secret: Type.Optional(Nullable(Text(1000))),
  description: Type.Optional(Nullable(Text(1000))),
  enabled: Type.Optional(Type.Boolean()),
  events: Type.Array(Enum(spellings), { minItems: 1, maxItems: 12 }),
  project_names_filter: Type.Optional(Nullable(List(Text(255, 1), 100))),
  environment_types_filter: Type.Optional(Nullable(List(Enum(environmentModes), 4))),
})

export const WebhookDelivery = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  finished_at: extension(Nullable(Timestamp)),
  is_replay: extension(Type.Boolean({ description: 'whether a person asked for it again; it is tried once' })),
  kind: Enum(webhookKinds),
  matched_event: Enum(webhookEvents),
  target_url_used: Type.String(),
  request: Type.Object({}, { additionalProperties: true }),
  target_response_status_code: Type.Integer({ description: '0 without a response' }),
  target_response_body: Type.String({
    description: 'the first KiB of the last response, or why the last try failed; empty before the first try',
  }),
  attempts: Type.Integer(),
  state: Enum(['pending', 'delivered', 'failed']),
  failure: Nullable(Type.String()),
})

const tag = 'Webhook'
const path = '/organization/{organizationId}/webhook'
const onOrganization = { target: 'organization', tag } as const

export const webhookOperations = {
  listOrganizationWebHooks: operation({
    ...onOrganization,
    method: 'GET',
    path,
    handler: 'listWebhooks',
    access: 'read',
    summary: 'Lists the webhooks of an organization.',
    reply: Results(Webhook),
    status: 200,
  }),
  createOrganizationWebhook: operation({
    ...onOrganization,
    method: 'POST',
    path,
    handler: 'createWebhook',
    event: { type: 'CREATE', target: 'WEBHOOK' },
    access: 'admin',
    summary: 'Creates a webhook that reports deployments to a URL. Deliveries are signed (Standard Webhooks).',
    body: WebhookRequest,
    reply: WebhookSaved,
    status: 201,
  }),
  getOrganizationWebhook: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/{webhookId}`,
    handler: 'getWebhook',
    access: 'read',
    summary: 'Returns a webhook.',
    reply: Webhook,
    status: 200,
  }),
  editOrganizationWebhook: operation({
    ...onOrganization,
    method: 'PUT',
    path: `${path}/{webhookId}`,
    handler: 'editWebhook',
    event: { type: 'UPDATE', target: 'WEBHOOK' },
    access: 'admin',
    summary:
      'Replaces a webhook. An absent `target_secret` is unchanged, null clears it. 400 if absent for another origin. ' +
      'The shortened form of the stored `target_url` keeps it.',
    body: WebhookRequest,
    reply: WebhookSaved,
    status: 200,
  }),
  deleteOrganizationWebhook: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/{webhookId}`,
    handler: 'deleteWebhook',
    event: { type: 'DELETE', target: 'WEBHOOK' },
    access: 'admin',
    summary: 'Deletes a webhook and stops its deliveries.',
    reply: NoBody,
    status: 204,
  }),
  listWebhookEvent: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/{webhookId}/event`,
    handler: 'listWebhookDeliveries',
    access: 'read',
    summary: 'Lists the last 100 deliveries of a webhook, newest first, for environments that the caller may read.',
    reply: Results(WebhookDelivery),
    status: 200,
  }),
  replayWebhookEvent: operation({
    ...onOrganization,
    extension: true,
    method: 'POST',
    path: `${path}/{webhookId}/event/{webhookEventId}/replay`,
    handler: 'replayWebhookDelivery',
    event: { type: 'TRIGGER_REDEPLOY', target: 'WEBHOOK' },
    access: 'admin',
    summary:
      'Sends the event of a delivery again, signed again under the same `webhook-id`. It is a new delivery, which is ' +
      'tried once. 409 while the event is being delivered or the webhook is disabled. 429 after ten within a minute.',
    reply: WebhookDelivery,
    status: 202,
  }),
} as const
