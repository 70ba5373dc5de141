import { planNames } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, List, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

export const Organization = Type.Object({
  ...base,
  name: Type.String(),
  description: Nullable(Type.String()),
  plan: Enum(planNames),
  website_url: Nullable(Type.String()),
  repository: Nullable(Type.String()),
  logo_url: Nullable(Type.String()),
  icon_url: Nullable(Type.String()),
  admin_emails: Nullable(Type.Array(Type.String())),
  owner: Nullable(Uuid),
  billing_deployment_restriction: Nullable(Type.String()),
  organization_plan: Type.Object({ plan: Enum(planNames), audit_logs_retention_in_days: Type.Integer() }),
})

/** An address, a path, or the image itself as a data URI. Two fit into a body. */
const image = Text(100_000)

export const OrganizationEdit = Type.Object({
  name: Text(255, 1),
  description: Type.Optional(Nullable(Text(1000))),
  website_url: Type.Optional(Nullable(Text(2000))),
  repository: Type.Optional(Nullable(Text(2000))),
  logo_url: Type.Optional(Nullable(image)),
  icon_url: Type.Optional(Nullable(image)),
  admin_emails: Type.Optional(Nullable(List(Text(320, 3), 100))),
})

export const OrganizationCreate = Type.Object({
  ...OrganizationEdit.properties,
  plan: Type.Optional(Enum(planNames)),
})

/** The last rotation of the keys that seal an organization's secrets. */
export const KeyRotation = Type.Object({
  state: Enum(['NEVER_ROTATED', 'RUNNING', 'SUCCESS', 'ERROR']),
  /** Texts that a former key has sealed. */
  old_key_rows: Type.Integer(),
  started_at: Nullable(Timestamp),
  ended_at: Nullable(Timestamp),
  /** Why it ended with an error. */
  reason: Nullable(Type.String()),
})

const tag = 'Organization'

export const organizationOperations = {
  listOrganization: operation({
    method: 'GET',
    path: '/organization',
    handler: 'listOrganizations',
    target: 'caller',
    access: 'read',
    tag,
    summary: 'The organizations that the caller belongs to; the fields of the first stand beside `results`.',
    reply: Type.Object({ ...Type.Partial(Organization).properties, ...Results(Organization).properties }),
    status: 200,
  }),
  getOrganization: operation({
    method: 'GET',
    path: '/organization/{organizationId}',
    handler: 'getOrganization',
    target: 'organization',
    access: 'read',
    tag,
    summary: 'One organization.',
    reply: Organization,
    status: 200,
  }),
  editOrganization: operation({
    method: 'PUT',
    path: '/organization/{organizationId}',
    handler: 'editOrganization',
    event: { type: 'UPDATE', target: 'ORGANIZATION' },
    target: 'organization',
    access: 'admin',
    tag,
    summary: 'Changes an organization; what the body leaves out stays, null clears.',
    body: OrganizationEdit,
    reply: Organization,
    status: 200,
  }),
  createOrganization: operation({
    method: 'POST',
    path: '/organization',
    handler: 'createOrganization',
    event: { type: 'CREATE', target: 'ORGANIZATION' },
    target: 'caller',
    access: 'admin',
    tag,
    summary:
      'Makes an organization with a cluster; the caller, a person who is ADMIN somewhere, owns it. `plan` changes nothing.',
    body: OrganizationCreate,
    reply: Organization,
    status: 201,
  }),
  deleteOrganization: operation({
    method: 'DELETE',
    path: '/organization/{organizationId}',
    handler: 'deleteOrganization',
    event: { type: 'DELETE', target: 'ORGANIZATION' },
    target: 'organization',
    access: 'admin',
    owner: true,
    tag,
    summary: 'Deletes an organization without projects, with its tokens and members; 409 while it has some.',
    reply: NoBody,
    status: 204,
  }),
  rotateOrganizationKeys: operation({
    method: 'POST',
    path: '/organization/{organizationId}/rotateKeys',
    handler: 'rotateOrganizationKeys',
    event: { type: 'UPDATE', target: 'ORGANIZATION' },
    target: 'organization',
    access: 'admin',
    extension: true,
    tag,
    summary:
      'Gives the organization another key for its secrets; what the former one sealed is sealed anew in the background. 409 while that goes on.',
    reply: KeyRotation,
    status: 202,
  }),
  getOrganizationKeyRotation: operation({
    method: 'GET',
    path: '/organization/{organizationId}/keyRotation',
    handler: 'getOrganizationKeyRotation',
    target: 'organization',
    access: 'admin',
    extension: true,
    tag,
    summary: 'How the last rotation of the keys goes, and how many texts a former key has sealed.',
    reply: KeyRotation,
    status: 200,
  }),
} as const
