import { gitProviders } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

export const deliveryStatuses = ['ACCEPTED', 'IGNORED'] as const

/** A webhook to which a git provider reports pushes. */
export const GitWebhook = Type.Object({
  ...base,
  provider: Enum(gitProviders),
  description: Type.String(),
  url: Type.String({ description: 'the URL to enter at the provider' }),
  last_delivery_at: Nullable(Timestamp),
  last_delivery_status: Nullable(Enum(deliveryStatuses)),
})
export const GitWebhookWithSecret = Type.Object({
  ...GitWebhook.properties,
  secret: Type.String({ description: 'the secret that the provider signs with; shown once' }),
})

export const GitWebhookRequest = Type.Object({
  provider: Enum(gitProviders),
  description: Type.Optional(Nullable(Text(1000))),
})

export const GitWebhookDelivery = Type.Object({
  id: Type.String({ description: 'the id at the provider' }),
  created_at: Timestamp,
  event: Type.String(),
  status: Enum(deliveryStatuses),
  reason: Nullable(Type.String({ description: 'why it was ignored' })),
})

export const pushResults = ['DEPLOYED', 'LEFT_OUT', 'REFUSED'] as const

/** A push, and its result for each service that follows the repository. */
export const GitPush = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  source: Enum([...gitProviders, 'BUILT_IN']),
  repository: Type.String(),
  branch: Type.String(),
  previous_commit_id: Nullable(Type.String()),
  git_commit_id: Type.String(),
  pusher: Type.String(),
  handled_at: Nullable(Timestamp),
  services: Type.Array(
    Type.Object({
      service_id: Uuid,
      service_name: Type.String(),
      environment_id: Uuid,
      environment_name: Type.String(),
      result: Enum(pushResults),
      reason: Nullable(Type.String({ description: 'why it was not deployed' })),
      deployment_request_id: Nullable(Uuid),
    }),
  ),
})

const tag = 'Git'
const path = '/organization/{organizationId}/gitWebhook'
const onOrganization = { target: 'organization', tag, extension: true } as const

export const gitWebhookOperations = {
  listGitWebhooks: operation({
    ...onOrganization,
    method: 'GET',
    path,
    handler: 'listGitWebhooks',
    access: 'read',
    summary: 'Lists the git webhooks of an organization, without their secrets.',
    reply: Results(GitWebhook),
    status: 200,
  }),
  createGitWebhook: operation({
    ...onOrganization,
    method: 'POST',
    path,
    handler: 'createGitWebhook',
    event: { type: 'CREATE', target: 'WEBHOOK' },
    access: 'admin',
    summary: 'Creates a git webhook for one git provider. Returns its signing secret, once.',
    body: GitWebhookRequest,
    reply: GitWebhookWithSecret,
    status: 201,
  }),
  rotateGitWebhookSecret: operation({
    ...onOrganization,
    method: 'POST',
    path: `${path}/{gitWebhookId}/secret`,
    handler: 'rotateGitWebhookSecret',
    event: { type: 'UPDATE', target: 'WEBHOOK' },
    access: 'admin',
    summary: 'Replaces the secret of a git webhook. Messages signed with the previous secret are rejected from now on.',
    reply: GitWebhookWithSecret,
    status: 200,
  }),
  deleteGitWebhook: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/{gitWebhookId}`,
    handler: 'deleteGitWebhook',
    event: { type: 'DELETE', target: 'WEBHOOK' },
    access: 'admin',
    summary: 'Deletes a git webhook. The provider gets 404 from now on.',
    reply: NoBody,
    status: 204,
  }),
  listGitWebhookDeliveries: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/{gitWebhookId}/delivery`,
    handler: 'listGitWebhookDeliveries',
    access: 'read',
    summary: 'Lists the last 100 signed messages to a git webhook, newest first, with the reason if one was ignored.',
    reply: Results(GitWebhookDelivery),
    status: 200,
  }),
  listGitPushes: operation({
    ...onOrganization,
    method: 'GET',
    path: '/organization/{organizationId}/gitPush',
    handler: 'listGitPushes',
    access: 'read',
    summary: 'Lists the last 100 pushes, newest first, with the result for each service that follows the repository.',
    reply: Results(GitPush),
    status: 200,
  }),
} as const
