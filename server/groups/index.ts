/** Annotations groups and labels groups of organizations, and which services and clusters have them. */
export type { GroupEntry, GroupKind, GroupRow } from './group-store.ts'
export { annotationsGroupRecord, createGroups, type Groups, labelsGroupRecord } from './groups.ts'
export { copyServiceGroups, type GroupOwner } from './owner-store.ts'
export { type GroupRefs, groupsOf, labelsOf, noGroups, type OwnGroups, setGroups } from './owners.ts'
