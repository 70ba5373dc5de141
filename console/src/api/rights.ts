import accesses from 'quayside:accesses'
import type { Wire } from '@quayside/client/client-of.ts'
import type { Contract, Static } from '@quayside/contract'
import type { OwnRights } from '@quayside/contract/resources/rights.ts'
import { mayAccess } from '@quayside/contract/roles.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

export type OperationName = keyof Contract

/** The place of an action: a project, an environment of it by its mode, or a cluster. */
export interface Place {
  readonly projectId?: string | undefined
  readonly mode?: string | undefined
  readonly clusterId?: string | undefined
}

/** The permissions of the person. An owner may change them, so each visit of a page reads them. */
export const ownRights = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'own-rights'),
    queryFn: () => api.getOrganizationOwnRights({ organizationId }),
    staleTime: 10_000,
  })

type Rights = Wire<Static<typeof OwnRights>>

function permissionsIn(rights: Rights, { projectId, mode, clusterId }: Place, inSomeMode: boolean) {
  if (projectId !== undefined) {
    const project = rights.projects.find(({ project_id }) => project_id === projectId)
    if (!project) return rights.other_projects
    if (inSomeMode) return [...project.permissions, ...project.modes.flatMap(({ permissions }) => permissions)]
    return mode === undefined
      ? project.permissions
      : (project.modes.find((one) => one.mode === mode)?.permissions ?? [])
  }
  if (clusterId === undefined) return rights.organization
  return (rights.clusters.find(({ cluster_id }) => cluster_id === clusterId) ?? rights.other_clusters).permissions
}

/** Pure: why the person may not do it at that place. Undefined if the API will permit it. */
export function whyNot(rights: Rights, name: OperationName, place: Place): string | undefined {
  const { needs, owner = false, someMode = false } = accesses[name]
  if (owner && !rights.is_owner) return 'Only the owner of the organization may do this.'
  const own = permissionsIn(rights, place, someMode)
  const missing = needs.find((access) => !mayAccess(own, access))
  return missing && `This needs the permission ${missing.toUpperCase()}, which you do not have here.`
}

type Verb = 'create' | 'edit' | 'delete' | 'deploy' | 'uninstall' | 'clone'

/** Pure: the operation of a kind, such as `deployApplication`. Every kind has these. */
export const operationOf = (verb: Verb, kind: KindName): OperationName =>
  // The types of texts do not follow a change of case.
  `${verb}${kind[0]?.toUpperCase()}${kind.slice(1)}` as `${Verb}${Capitalize<KindName>}`
