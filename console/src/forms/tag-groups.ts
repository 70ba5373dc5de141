import { annotationScopeWords } from './annotation-scopes.ts'
import type { FieldSpec } from './fields.ts'

const name: FieldSpec = { path: 'name', label: 'Name', type: 'text', isRequired: true, placeholder: 'team-shop' }
const key: FieldSpec = { path: 'key', label: 'Key', type: 'text', isRequired: true, placeholder: 'team' }
const value: FieldSpec = { path: 'value', label: 'Value', type: 'text', keepsEmpty: true }

/** The form of a group of labels. */
export const labelFields: readonly FieldSpec[] = [
  name,
  {
    path: 'labels',
    label: 'Labels',
    type: 'list',
    noun: 'label',
    fresh: { key: '', value: '', propagate_to_cloud_provider: false },
    fields: [key, value],
  },
]

/** The form of a group of annotations. */
export const annotationFields: readonly FieldSpec[] = [
  name,
  {
    path: 'annotations',
    label: 'Annotations',
    type: 'list',
    noun: 'annotation',
    fresh: { key: '', value: '' },
    fields: [key, value],
  },
  { path: 'scopes', label: 'Objects that get them', type: 'choices', options: annotationScopeWords },
]
