import { operation, permissions } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

const fields = {
  ...base,
  name: Type.String(),
  description: Type.String(),
  role_name: Type.String(),
  role_id: Nullable(Uuid),
  scope: Nullable(Enum(permissions)),
  expires_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  token_hint: Type.String({ description: 'the key id, which distinguishes tokens' }),
}
export const ApiToken = Type.Object(fields)
export const ApiTokenCreated = Type.Object({ ...fields, token: Type.String({ description: 'shown once' }) })

export const ApiTokenRequest = Type.Object({
  name: Text(255, 1),
  description: Type.Optional(Nullable(Text(1000))),
  scope: Type.Optional(Nullable(Text(20))),
  role_id: Type.Optional(Nullable(Uuid)),
  expires_at: Type.Optional(Nullable(Type.String({ format: 'date-time', maxLength: 40 }))),
})

const PolicyApiToken = Type.Object({ ...base, name: Type.String(), description: Type.String() })

const tag = 'API token'
const path = '/organization/{organizationId}/apiToken'
const onOrganization = { target: 'organization', tag } as const

export const apiTokenOperations = {
  listOrganizationApiTokens: operation({
    ...onOrganization,
    method: 'GET',
    path,
    handler: 'listApiTokens',
    access: 'read',
    summary: 'Lists the API tokens of an organization, without their values.',
    query: Type.Object({ name: Type.Optional(Text(255)), creatorName: Type.Optional(Text(255)) }),
    reply: Results(ApiToken),
    status: 200,
  }),
  createOrganizationApiToken: operation({
    ...onOrganization,
    method: 'POST',
    path,
    handler: 'createApiToken',
    event: { type: 'CREATE', target: 'ORGANIZATION', sub: 'API_TOKEN' },
    access: 'admin',
    summary:
      'Creates an API token and returns its value, once. `role_id` sets its permissions. Without it, `scope` ' +
      'does: ADMIN (default), READ, DEPLOY or WRITE.',
    body: ApiTokenRequest,
    reply: ApiTokenCreated,
    status: 201,
  }),
  deleteOrganizationApiToken: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/{apiTokenId}`,
    handler: 'deleteApiToken',
    event: { type: 'DELETE', target: 'ORGANIZATION', sub: 'API_TOKEN' },
    access: 'admin',
    summary: 'Revokes an API token with immediate effect.',
    reply: NoBody,
    status: 204,
  }),
  listOrganizationPolicyApiTokens: operation({
    ...onOrganization,
    method: 'GET',
    path: '/organization/{organizationId}/policyApiToken',
    handler: 'listPolicyApiTokens',
    access: 'read',
    summary: 'Lists the policies of an API token. Always empty: API tokens have roles instead.',
    reply: Results(PolicyApiToken),
    status: 200,
  }),
} as const
