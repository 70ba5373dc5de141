import { named, operation } from '../operation.ts'
import { base, Enum, List, NoBody, Results, Text, type TSchema, Type, Uuid } from '../schema.ts'

export const annotationScopes = [
  'DEPLOYMENTS',
  'STATEFUL_SETS',
  'SERVICES',
  'INGRESS',
  'GATEWAY_API_ROUTES',
  'HPA',
  'PODS',
  'SECRETS',
  'JOBS',
  'CRON_JOBS',
] as const
export type AnnotationScope = (typeof annotationScopes)[number]
/** Annotations by key, for each kind of objects that gets them. */
export type ScopedAnnotations = Readonly<Partial<Record<AnnotationScope, Readonly<Record<string, string>>>>>

export const taggedItemTypes = [
  'APPLICATION',
  'DATABASE',
  'CONTAINER',
  'LIFECYCLE',
  'ENVIRONMENT',
  'CLUSTER',
  'CRON',
] as const
export type TaggedItemType = (typeof taggedItemTypes)[number]

const key = Text(317, 1)
const annotation = { key, value: Text(4096) }
const label = { key, value: Text(63), propagate_to_cloud_provider: Type.Boolean() }
const text = Type.String()

export const AnnotationsGroup = Type.Object({
  ...base,
  name: text,
  annotations: Type.Array(Type.Object({ key: text, value: text })),
  scopes: Type.Array(Enum(annotationScopes)),
})
export const AnnotationsGroupRequest = Type.Object({
  name: Text(255, 1),
  annotations: List(Type.Object(annotation), 100),
  scopes: List(Enum(annotationScopes), 20),
})

export const LabelsGroup = Type.Object({
  ...base,
  name: text,
  labels: Type.Array(Type.Object({ key: text, value: text, propagate_to_cloud_provider: Type.Boolean() })),
})
export const LabelsGroupRequest = Type.Object({ name: Text(255, 1), labels: List(Type.Object(label), 100) })

/** An owner of a group: a service with its environment and project, or a cluster. */
export const TaggedItem = Type.Object({
  cluster_id: Type.Optional(Uuid),
  cluster_name: Type.Optional(text),
  project_id: Type.Optional(Uuid),
  project_name: Type.Optional(text),
  environment_id: Type.Optional(Uuid),
  environment_name: Type.Optional(text),
  item_id: Uuid,
  item_name: text,
  item_type: Enum(taggedItemTypes),
})

const withCount = { associated_items_count: Type.Integer() }
const AnnotationsGroupListed = Type.Object({ ...AnnotationsGroup.properties, ...withCount })
const LabelsGroupListed = Type.Object({ ...LabelsGroup.properties, ...withCount })

/**
 * The operations of annotations groups and labels groups. `one` names the operation that gets one.
 */
function groupOperations<
  const K extends string,
  const O extends string,
  const W extends string,
  L extends TSchema,
  R extends TSchema,
  B extends typeof AnnotationsGroupRequest | typeof LabelsGroupRequest,
>(noun: K, one: O, word: W, sub: 'ANNOTATIONS_GROUP' | 'LABELS_GROUP', schemas: { listed: L; reply: R; body: B }) {
  const path = `/organization/{organizationId}/${word}Groups` as const
  const single = `${path}/{${word}GroupId}` as const
  const { listed, reply, body } = schemas
  const onOrganization = { target: 'organization', tag: `Organization ${noun} Group` } as const
  const read = { ...onOrganization, method: 'GET', access: 'read', status: 200 } as const
  return {
    ...named(noun, {
      'listOrganization{Kind}Group': operation({
        ...read,
        path,
        handler: `list${noun}Groups`,
        summary:
          'Lists the groups of an organization, oldest first, with the number of services and clusters that have each.',
        reply: Results(listed),
      }),
      'createOrganization{Kind}Group': operation({
        ...onOrganization,
        method: 'POST',
        path,
        handler: `create${noun}Group`,
        access: 'write',
        event: { type: 'CREATE', target: 'ORGANIZATION', sub },
        summary: 'Creates a group. 409 if the name is taken.',
        body,
        reply,
        status: 201,
      }),
      'editOrganization{Kind}Group': operation({
        ...onOrganization,
        method: 'PUT',
        path: single,
        handler: `edit${noun}Group`,
        access: 'write',
        event: { type: 'UPDATE', target: 'ORGANIZATION', sub },
        summary: 'Replaces a group. The change takes effect at the next deployment of each service that has it.',
        body,
        reply,
        status: 200,
      }),
      'deleteOrganization{Kind}Group': operation({
        ...onOrganization,
        method: 'DELETE',
        path: single,
        handler: `delete${noun}Group`,
        access: 'write',
        event: { type: 'DELETE', target: 'ORGANIZATION', sub },
        summary: 'Deletes a group. 409 if a service or a cluster still has it.',
        reply: NoBody,
        status: 204,
      }),
      'getOrganization{Kind}GroupAssociatedItems': operation({
        ...read,
        path: `${single}/associatedItems`,
        handler: `list${noun}GroupItems`,
        summary: 'Lists the services and clusters that have a group.',
        reply: Results(TaggedItem),
      }),
    }),
    ...named(one, {
      'getOrganization{Kind}Group': operation({
        ...read,
        path: single,
        handler: `get${noun}Group`,
        summary: 'Returns a group.',
        reply,
      }),
    }),
  }
}

export const annotationsGroupOperations = groupOperations(
  'Annotations',
  'Annotations',
  'annotations',
  'ANNOTATIONS_GROUP',
  { listed: AnnotationsGroupListed, reply: AnnotationsGroup, body: AnnotationsGroupRequest },
)
/** The public API spells getting one with two `s`. */
export const labelsGroupOperations = groupOperations('Labels', 'Labelss', 'labels', 'LABELS_GROUP', {
  listed: LabelsGroupListed,
  reply: LabelsGroup,
  body: LabelsGroupRequest,
})
