import { type Draft, type Json, listAt, valueAt } from './draft.ts'

// Records of services differ from the bodies of requests in a few members.

/** Pure: these members of a record. */
export const pick = (record: Json, ...names: readonly string[]): Draft =>
  Object.fromEntries(names.map((name) => [name, valueAt(record, name)]))

/** Pure: the repository of a record, as requests have it. */
export const repositoryOf = (record: Json, path: string): Draft =>
  pick(valueAt(record, path), 'url', 'branch', 'root_path', 'git_token_id')

/** Pure: the image of a record, as requests have it. */
export const imageOf = (record: Json): Draft => pick(record, 'registry_id', 'image_name', 'tag')

/** Pure: the groups of labels and annotations of a record, as requests have them. */
export const groupsOf = (record: Draft): Draft =>
  Object.fromEntries(
    ['labels_groups', 'annotations_groups'].map((name) => [name, listAt(record, name).map((one) => pick(one, 'id'))]),
  )
