import { environmentModes } from '../enums.ts'
import { operation, permissions } from '../operation.ts'
import { Enum, Type, Uuid } from '../schema.ts'

const Permissions = Type.Array(Enum(permissions), {
  description: 'All include READ. ADMIN includes all. DEPLOY and WRITE are independent. Empty: no access.',
})

const ProjectRights = Type.Object({
  project_id: Uuid,
  permissions: Permissions,
  modes: Type.Array(Type.Object({ mode: Enum(environmentModes), permissions: Permissions })),
})

const ClusterRights = Type.Object({
  cluster_id: Uuid,
  permissions: Permissions,
  creates_environments: Type.Boolean({ description: 'whether the caller may create environments on the cluster' }),
})

export const OwnRights = Type.Object({
  is_owner: Type.Boolean({ description: 'whether the caller may do what only the owner of the organization may' }),
  organization: Permissions,
  projects: Type.Array(ProjectRights, { description: 'projects that differ from other_projects' }),
  clusters: Type.Array(ClusterRights, { description: 'clusters that differ from other_clusters' }),
  other_projects: Permissions,
  other_clusters: Type.Omit(ClusterRights, ['cluster_id']),
})

export const rightsOperations = {
  getOrganizationOwnRights: operation({
    target: 'organization',
    tag: 'Member',
    method: 'GET',
    path: '/organization/{organizationId}/ownRights',
    handler: 'getOwnRights',
    access: 'read',
    extension: true,
    summary: 'Returns the permissions of the caller, so that clients can disable what the caller may not do.',
    reply: OwnRights,
    status: 200,
  }),
}
