import type { AnnotationScope, ScopedAnnotations } from '@quayside/contract/resources/tag-group.ts'
import type { Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { GroupRow } from './group-store.ts'
import { annotationsGroupRecord, labelsGroupRecord } from './groups.ts'
import { type GroupOwner, holdGroups, listOwnedGroups, replaceOwnedGroups } from './owner-store.ts'

/** The groups of one owner, with all their entries. */
export interface OwnGroups {
  readonly annotations_groups: ReturnType<typeof annotationsGroupRecord<GroupRow>>[]
  readonly labels_groups: ReturnType<typeof labelsGroupRecord<GroupRow>>[]
}

/** Groups as requests name them: an absent list is unchanged, null and an empty list remove all. */
export interface GroupRefs {
  readonly annotations_groups?: readonly { readonly id: string }[] | null | undefined
  readonly labels_groups?: readonly { readonly id: string }[] | null | undefined
}

export const noGroups: OwnGroups = { annotations_groups: [], labels_groups: [] }

/** Returns the groups of all these services or clusters with one query. */
export async function groupsOf(sql: Sql, owner: GroupOwner, ids: readonly string[]): Promise<Map<string, OwnGroups>> {
  const found = new Map<string, OwnGroups>()
  if (ids.length === 0) return found
  for (const { owner_id, ...row } of await listOwnedGroups(sql, owner, ids)) {
    const own = found.get(owner_id) ?? { annotations_groups: [], labels_groups: [] }
    if (row.kind === 'annotations') own.annotations_groups.push(annotationsGroupRecord(row))
    else own.labels_groups.push(labelsGroupRecord(row))
    found.set(owner_id, own)
  }
  return found
}

/** The labels of an owner by key, and its annotations by their scopes. */
export interface Tags {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: ScopedAnnotations
}

/** No engine takes more for one object, and every version of a service keeps its annotations. */
const mostAnnotationBytes = 256 * 1024

/**
 * Returns the entries of all groups of an owner. If two groups have the same key, the newer group
 * wins. Throws 409 if its annotations are too long.
 */
export async function tagsOf(sql: Sql, owner: GroupOwner, id: string): Promise<Tags> {
  const own = (await groupsOf(sql, owner, [id])).get(id) ?? noGroups
  const bytes = own.annotations_groups.reduce((sum, group) => sum + bytesOf(group.annotations) * group.scopes.length, 0)
  if (bytes > mostAnnotationBytes) {
    throw new AppError(
      'conflict',
      `The annotations groups have ${bytes} bytes in all their scopes, and at most ${mostAnnotationBytes} are ` +
        'possible. Remove some of them.',
    )
  }
  const scopes = new Set(own.annotations_groups.flatMap((group) => group.scopes))
  const inScope = (scope: AnnotationScope) => own.annotations_groups.filter((group) => group.scopes.includes(scope))
  return {
    labels: byKey(own.labels_groups.flatMap(({ labels }) => labels)),
    annotations: Object.fromEntries(
      [...scopes].map((scope) => [scope, byKey(inScope(scope).flatMap(({ annotations }) => annotations))]),
    ),
  }
}

/** Returns a function that reads the labels of a cluster. */
export const clusterLabelsReader = (sql: Sql, id: string) => async (): Promise<Tags['labels']> =>
  (await tagsOf(sql, 'cluster', id)).labels

const bytesOf = (entries: readonly { readonly key: string; readonly value: string }[]): number =>
  entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)

const byKey = (entries: readonly { readonly key: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(entries.map(({ key, value }) => [key, value]))

/**
 * Stores the groups that a request names for a service or a cluster. Throws 404 for a group that
 * the organization does not have, with its position in the request. Runs inside the caller's
 * transaction; the caller raises `config_version`.
 */
export async function setGroups(
  sql: Sql,
  owner: GroupOwner,
  { ownerId, organizationId }: { ownerId: string; organizationId: string },
  refs: GroupRefs,
): Promise<void> {
  for (const kind of ['annotations', 'labels'] as const) {
    const list = refs[`${kind}_groups`]
    if (list === undefined) continue
    const ids = (list ?? []).map(({ id }) => id.toLowerCase())
    const known = ids.length === 0 ? [] : await holdGroups(sql, { organizationId, kind, ids })
    const missing = ids.findIndex((id) => !known.includes(id))
    if (missing !== -1) {
      throw notFound(`${kind} group`, list?.[missing]?.id, { field: `${kind}_groups[${missing}].id` })
    }
    await replaceOwnedGroups(sql, owner, { ownerId, kind, ids: known })
  }
}
