import { queryOptions } from '@tanstack/react-query'
import { asBody, type Draft } from '../forms/draft.ts'
import type { FieldSpec } from '../forms/fields.ts'
import { annotationFields, labelFields } from '../forms/tag-groups.ts'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'
import type { OperationName } from './rights.ts'

type Items = Awaited<ReturnType<typeof api.getOrganizationLabelsGroupAssociatedItems>>['results']

/** A label or an annotation. */
interface Tag {
  readonly key: string
  readonly value: string
}
export interface TagGroup {
  readonly id: string
  readonly name: string
  readonly associated_items_count: number
  readonly labels?: readonly Tag[]
  readonly annotations?: readonly Tag[]
  /** The kinds of objects that get the annotations. */
  readonly scopes?: readonly string[]
}

/** The operations of one sort of groups. Labels and annotations share pages. */
export interface TagGroupOperations {
  readonly noun: string
  readonly title: string
  readonly about: string
  /** The operations, for the permissions that they need. */
  readonly names: Readonly<Record<'create' | 'edit' | 'remove', OperationName>>
  readonly fields: readonly FieldSpec[]
  readonly initial: Draft
  tags(group: TagGroup): readonly Tag[]
  list(organizationId: string): Promise<{ readonly results: readonly TagGroup[] }>
  create(organizationId: string, draft: Draft): Promise<unknown>
  edit(organizationId: string, id: string, draft: Draft): Promise<unknown>
  remove(organizationId: string, id: string): Promise<unknown>
  items(organizationId: string, id: string): Promise<{ readonly results: Items }>
}

export const labelsGroups: TagGroupOperations = {
  noun: 'group of labels',
  title: 'Groups of labels',
  about:
    'The containers or pods of a service with the group have its labels, and so do namespaces of a cluster with it.',
  names: {
    create: 'createOrganizationLabelsGroup',
    edit: 'editOrganizationLabelsGroup',
    remove: 'deleteOrganizationLabelsGroup',
  },
  fields: labelFields,
  initial: { name: '', labels: [{ key: '', value: '', propagate_to_cloud_provider: false }] },
  tags: ({ labels = [] }) => labels,
  list: (organizationId) => api.listOrganizationLabelsGroup({ organizationId }),
  create: (organizationId, draft) => api.createOrganizationLabelsGroup({ organizationId, body: asBody(draft) }),
  edit: (organizationId, labelsGroupId, draft) =>
    api.editOrganizationLabelsGroup({ organizationId, labelsGroupId, body: asBody(draft) }),
  remove: (organizationId, labelsGroupId) => api.deleteOrganizationLabelsGroup({ organizationId, labelsGroupId }),
  items: (organizationId, labelsGroupId) =>
    api.getOrganizationLabelsGroupAssociatedItems({ organizationId, labelsGroupId }),
}

export const annotationsGroups: TagGroupOperations = {
  noun: 'group of annotations',
  title: 'Groups of annotations',
  about: 'Objects of the chosen kinds have its annotations. They have an effect on clusters of Kubernetes.',
  names: {
    create: 'createOrganizationAnnotationsGroup',
    edit: 'editOrganizationAnnotationsGroup',
    remove: 'deleteOrganizationAnnotationsGroup',
  },
  fields: annotationFields,
  initial: { name: '', annotations: [{ key: '', value: '' }], scopes: ['PODS'] },
  tags: ({ annotations = [] }) => annotations,
  list: (organizationId) => api.listOrganizationAnnotationsGroup({ organizationId }),
  create: (organizationId, draft) => api.createOrganizationAnnotationsGroup({ organizationId, body: asBody(draft) }),
  edit: (organizationId, annotationsGroupId, draft) =>
    api.editOrganizationAnnotationsGroup({ organizationId, annotationsGroupId, body: asBody(draft) }),
  remove: (organizationId, annotationsGroupId) =>
    api.deleteOrganizationAnnotationsGroup({ organizationId, annotationsGroupId }),
  items: (organizationId, annotationsGroupId) =>
    api.getOrganizationAnnotationsGroupAssociatedItems({ organizationId, annotationsGroupId }),
}

/** A service may join a group on another page, so each visit reads them. */
export const tagGroups = (groups: TagGroupOperations, organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, groups.noun),
    queryFn: async () => (await groups.list(organizationId)).results,
    staleTime: 0,
  })
