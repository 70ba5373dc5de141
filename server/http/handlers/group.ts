import type { Static } from '@quayside/contract'
import type { AnnotationsGroupRequest, LabelsGroupRequest } from '@quayside/contract/resources/tag-group.ts'
import { type Caller, visible } from '../../access/index.ts'
import type { OrganizationRow } from '../../organizations/index.ts'
import { annotationsGroupRecord, type GroupKind, labelsGroupRecord } from '../../services/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for the annotations groups and labels groups of an organization. */
export const groupHandlers = ({ groups }: Rooms) => {
  const place = (target: OrganizationRow, kind: GroupKind, ids: readonly string[]) => ({
    organizationId: target.id,
    kind,
    id: ids[0] ?? '',
  })
  const ofAnnotations = ({ name, annotations: entries, scopes }: Static<typeof AnnotationsGroupRequest>) => ({
    name,
    entries,
    scopes,
  })
  const ofLabels = ({ name, labels: entries }: Static<typeof LabelsGroupRequest>) => ({ name, entries, scopes: [] })
  /** Returns the items of a group that the caller may see. */
  const itemsFor = async (caller: Caller, of: ReturnType<typeof place>) => {
    const { environment, cluster } = visible(caller)
    return (await groups.items(of)).filter(({ project_id, environment_mode, cluster_id }) =>
      project_id === undefined ? cluster(cluster_id) : environment(project_id, environment_mode ?? ''),
    )
  }
  return {
    listAnnotationsGroups: async ({ target }) => ({
      results: (await groups.list(target.id, 'annotations')).map((row) => annotationsGroupRecord(row)),
    }),
    createAnnotationsGroup: async ({ target, body }) =>
      annotationsGroupRecord(await groups.create(target.id, 'annotations', ofAnnotations(body))),
    getAnnotationsGroup: async ({ target, ids }) =>
      annotationsGroupRecord(await groups.get(place(target, 'annotations', ids))),
    editAnnotationsGroup: async ({ target, ids, body }) =>
      annotationsGroupRecord(await groups.edit(place(target, 'annotations', ids), ofAnnotations(body))),
    deleteAnnotationsGroup: async ({ target, ids }) => void (await groups.remove(place(target, 'annotations', ids))),
    listAnnotationsGroupItems: async ({ target, ids, caller }) => ({
      results: await itemsFor(caller, place(target, 'annotations', ids)),
    }),

    listLabelsGroups: async ({ target }) => ({
      results: (await groups.list(target.id, 'labels')).map((row) => labelsGroupRecord(row)),
    }),
    createLabelsGroup: async ({ target, body }) =>
      labelsGroupRecord(await groups.create(target.id, 'labels', ofLabels(body))),
    getLabelsGroup: async ({ target, ids }) => labelsGroupRecord(await groups.get(place(target, 'labels', ids))),
    editLabelsGroup: async ({ target, ids, body }) =>
      labelsGroupRecord(await groups.edit(place(target, 'labels', ids), ofLabels(body))),
    deleteLabelsGroup: async ({ target, ids }) => void (await groups.remove(place(target, 'labels', ids))),
    listLabelsGroupItems: async ({ target, ids, caller }) => ({
      results: await itemsFor(caller, place(target, 'labels', ids)),
    }),
  } satisfies Partial<Handlers>
}
