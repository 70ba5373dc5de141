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
  token_hint: Type.String({ description: 'the key id, to tell tokens apart' }),
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
    summary: 'The API tokens of an organization, without their values.',
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
      'Makes an API token; the answer holds it, once. `role_id` says what it may; without, `scope`: ADMIN (default), READ, DEPLOY or WRITE.',
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
    summary: 'Revokes an API token, at once.',
    reply: NoBody,
    status: 204,
  }),
  listOrganizationPolicyApiTokens: operation({
    ...onOrganization,
    method: 'GET',
    path: '/organization/{organizationId}/policyApiToken',
    handler: 'listPolicyApiTokens',
    access: 'read',
    summary: 'None: API tokens have roles here, not policies.',
    reply: Results(PolicyApiToken),
    status: 200,
  }),
} as const
