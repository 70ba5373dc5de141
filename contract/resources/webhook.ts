import {
  environmentModes,
  type WebhookEventSpelling,
  webhookEventSpellings,
  webhookEvents,
  webhookKinds,
} from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, List, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

/** The keys of the table; Object.keys forgets their type. */
const spellings = Object.keys(webhookEventSpellings) as WebhookEventSpelling[]

const fields = {
  kind: Enum(webhookKinds),
  target_url: Type.String(),
  target_secret_set: Type.Boolean(),
  description: Type.String(),
  enabled: Type.Boolean(),
  project_names_filter: Type.Array(Type.String()),
  environment_types_filter: Type.Array(Enum(environmentModes)),
}
/** As read: events by their canonical names. */
export const Webhook = Type.Object({ ...base, ...fields, events: Type.Array(Enum(webhookEvents)) })
/** As answered to a create or replace: events as they were sent, and the signing secret once, at creation. */
export const WebhookSaved = Type.Object({
  ...base,
  ...fields,
  events: Type.Array(Enum(spellings)),
  signing_secret: Type.Optional(Type.String({ description: 'key of the Standard Webhooks signature; shown once' })),
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
  kind: Enum(webhookKinds),
  matched_event: Enum(webhookEvents),
  target_url_used: Type.String(),
  request: Type.Object({}, { additionalProperties: true }),
  target_response_status_code: Type.Integer({ description: '0 while nothing was answered' }),
  target_response_body: Type.String({
    description:
      'the first KiB of the answer to the last try, as text; without an answer why it failed; empty before the first try',
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
    summary: 'The webhooks of an organization.',
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
    summary: 'Registers an address that is told of deployments; deliveries are signed (Standard Webhooks).',
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
    summary: 'One webhook.',
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
    summary: 'Replaces a webhook; an absent `target_secret` stays, null clears it.',
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
    summary: 'Removes a webhook; nothing more is delivered to it.',
    reply: NoBody,
    status: 204,
  }),
  listWebhookEvent: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/{webhookId}/event`,
    handler: 'listWebhookDeliveries',
    access: 'read',
    summary: 'The last 100 deliveries of a webhook, newest first.',
    reply: Results(WebhookDelivery),
    status: 200,
  }),
} as const
