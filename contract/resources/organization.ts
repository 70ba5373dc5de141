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

/** A URL, a path, or the image itself as a data URI. Two fit into a body. */
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

/** The last rotation of an organization's encryption keys. */
export const KeyRotation = Type.Object({
  state: Enum(['NEVER_ROTATED', 'RUNNING', 'SUCCESS', 'ERROR']),
  /** How many secrets a previous key still encrypts. */
  old_key_rows: Type.Integer(),
  started_at: Nullable(Timestamp),
  ended_at: Nullable(Timestamp),
  /** Why the rotation failed. */
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
    summary: 'Lists the organizations of the caller. The fields of the first are repeated next to `results`.',
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
    summary: 'Returns an organization.',
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
    summary: 'Changes an organization. Omitted fields are unchanged. Null clears a field.',
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
      'Creates an organization with a cluster. The caller must be a person who is ADMIN somewhere, and ' +
      'becomes the owner. `plan` has no effect.',
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
    summary: 'Deletes an organization with its tokens and members. 409 if it has projects.',
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
      'Rotates the encryption key of an organization. Its secrets are re-encrypted in the background. 409 ' +
      'while that is in progress.',
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
    summary: 'Returns the progress of the last key rotation, and how many secrets still use a previous key.',
    reply: KeyRotation,
    status: 200,
  }),
} as const
