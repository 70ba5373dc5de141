import { environmentModes } from '@quayside/contract/enums.ts'
import {
  isOwner,
  mayUseCluster,
  namedPlaces,
  type Place,
  permissionsAt,
  type Rights,
} from '@quayside/contract/roles.ts'

/**
 * Pure: the permissions of a caller at each place of an organization, for its clients. `hasOwner`
 * is whether the organization has one. Without, ADMIN is enough for operations of the owner.
 */
export function ownRights(rights: Rights, hasOwner: boolean) {
  const at = (place: Place) => [...permissionsAt(rights, place)]
  const cluster = (clusterId: string) => ({
    permissions: at({ clusterId }),
    creates_environments: mayUseCluster(rights, clusterId),
  })
  const { projects, clusters } = namedPlaces(rights)
  return {
    is_owner: isOwner(rights) || (!hasOwner && at({}).includes('ADMIN')),
    organization: at({}),
    projects: projects.map((projectId) => ({
      project_id: projectId,
      permissions: at({ projectId }),
      modes: environmentModes.map((mode) => ({ mode, permissions: at({ projectId, mode }) })),
    })),
    clusters: clusters.map((clusterId) => ({ cluster_id: clusterId, ...cluster(clusterId) })),
    // No id of a project or a cluster is empty.
    other_projects: at({ projectId: '' }),
    other_clusters: cluster(''),
  }
}
