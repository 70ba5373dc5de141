import { environmentModes } from '../enums.ts'
import { operation } from '../operation.ts'
import { clusterLevels, projectLevels } from '../roles.ts'
import { base, Enum, List, NoBody, Results, Text, Type, Uuid } from '../schema.ts'

const ModePermission = Type.Object({ environment_type: Enum(environmentModes), permission: Enum(projectLevels) })

export const CustomRole = Type.Object({
  ...base,
  name: Type.String(),
  description: Type.String(),
  cluster_permissions: Type.Array(
    Type.Object({ cluster_id: Uuid, cluster_name: Type.String(), permission: Enum(clusterLevels) }),
  ),
  project_permissions: Type.Array(
    Type.Object({
      project_id: Uuid,
      project_name: Type.String(),
      is_admin: Type.Boolean(),
      permissions: Type.Array(ModePermission),
    }),
  ),
})

export const CustomRoleCreate = Type.Object({ name: Text(255, 1), description: Type.Optional(Text(1000)) })

export const CustomRoleEdit = Type.Object({
  ...CustomRoleCreate.properties,
  cluster_permissions: List(Type.Object({ cluster_id: Uuid, permission: Enum(clusterLevels) })),
  project_permissions: List(
    Type.Object({
      project_id: Uuid,
      is_admin: Type.Optional(Type.Boolean()),
      permissions: Type.Optional(List(ModePermission, environmentModes.length)),
    }),
  ),
})

const tag = 'Custom role'
const path = '/organization/{organizationId}/customRole'
const onOrganization = { target: 'organization', tag } as const
const event = { type: 'CREATE', target: 'MEMBERS_AND_ROLES', sub: 'CUSTOM_ROLE' } as const

export const customRoleOperations = {
  listOrganizationCustomRoles: operation({
    ...onOrganization,
    method: 'GET',
    path,
    handler: 'listCustomRoles',
    access: 'read',
    summary: 'Lists the custom roles of an organization, each with every cluster and every project.',
    reply: Results(CustomRole),
    status: 200,
  }),
  createOrganizationCustomRole: operation({
    ...onOrganization,
    method: 'POST',
    path,
    handler: 'createCustomRole',
    access: 'admin',
    event,
    summary:
      'Creates a custom role with VIEWER on every cluster and NO_ACCESS to every project. 409 if the name is taken.',
    body: CustomRoleCreate,
    reply: CustomRole,
    status: 201,
  }),
  getOrganizationCustomRole: operation({
    ...onOrganization,
    method: 'GET',
    path: `${path}/{customRoleId}`,
    handler: 'getCustomRole',
    access: 'read',
    summary: 'Returns a custom role.',
    reply: CustomRole,
    status: 200,
  }),
  editOrganizationCustomRole: operation({
    ...onOrganization,
    method: 'PUT',
    path: `${path}/{customRoleId}`,
    handler: 'editCustomRole',
    access: 'admin',
    event: { ...event, type: 'UPDATE' },
    summary:
      'Replaces the permissions of a custom role, from the next request on. Anything not listed gets the ' +
      'lowest permission.',
    body: CustomRoleEdit,
    reply: CustomRole,
    status: 200,
  }),
  deleteOrganizationCustomRole: operation({
    ...onOrganization,
    method: 'DELETE',
    path: `${path}/{customRoleId}`,
    handler: 'deleteCustomRole',
    access: 'admin',
    event: { ...event, type: 'DELETE' },
    summary: 'Deletes a custom role. 409 if anyone still has it.',
    reply: NoBody,
    status: 204,
  }),
} as const
