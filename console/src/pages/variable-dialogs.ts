import { api } from '../api/client.ts'
import type { Variable, VariablePlace } from '../api/reads-variables.ts'
import { asBody, type Draft } from '../forms/draft.ts'
import type { FieldSpec, TextSpec } from '../forms/fields.ts'

/** A change of variables that a dialog makes. */
export type VariableAct =
  | { readonly act: 'add' }
  | { readonly act: 'edit' | 'override' | 'alias' | 'delete'; readonly variable: Variable }

/** The texts, the fields and the operation of a dialog. */
export interface VariableForm {
  readonly title: string
  readonly action: string
  readonly fields: readonly FieldSpec[]
  readonly initial: Draft
  send(draft: Draft): Promise<unknown>
  /** The texts that its preview hides. */
  secrets?(draft: Draft): readonly string[]
}

const keyField: TextSpec = { path: 'key', label: 'Key', type: 'text', isRequired: true, placeholder: 'LOG_LEVEL' }
const valueField: TextSpec = {
  path: 'value',
  label: 'Value',
  type: 'long',
  keepsEmpty: true,
  hint: '{{KEY}} stands for the value of another variable.',
}
const description: TextSpec = { path: 'description', label: 'Description', type: 'text' }

/** Pure: the form of a new variable. */
const addForm = ({ scope, parentId }: VariablePlace): VariableForm => ({
  title: 'New variable',
  action: 'Add the variable',
  fields: [
    keyField,
    valueField,
    { path: 'is_secret', label: 'Secret, which is never shown again', type: 'check' },
    { path: 'mount_path', label: 'File', type: 'text', hint: 'With a path, the value is a file there.' },
    description,
  ],
  initial: { key: '', value: '', is_secret: false, variable_scope: scope, variable_parent_id: parentId },
  send: (draft) => api.createVariable({ body: asBody(draft) }),
})

/** The body of a change of a secret does not say that it is one. */
const secretsIf = (isSecret: boolean) => (draft: Draft) =>
  isSecret && typeof draft['value'] === 'string' ? [draft['value']] : []

const forms = {
  edit: (_, { id: variableId, key, value, is_secret: isSecret, description: about }) => ({
    title: `Change ${key}`,
    action: 'Save',
    fields: [
      keyField,
      isSecret ? { ...valueField, keepsEmpty: false, hint: 'Empty: the stored value stays.' } : valueField,
      description,
    ],
    initial: { key, value, description: about },
    send: (draft) => api.editVariable({ variableId, body: asBody(draft) }),
    secrets: secretsIf(isSecret),
  }),
  override: ({ scope, parentId }, { id: variableId, key, value, is_secret: isSecret }) => ({
    title: `Override ${key}`,
    action: 'Override',
    fields: [{ ...valueField, hint: 'Here the variable has this value instead.' }, description],
    initial: { value: value ?? '', override_scope: scope, override_parent_id: parentId },
    send: (draft) => api.createVariableOverride({ variableId, body: asBody(draft) }),
    secrets: secretsIf(isSecret),
  }),
  alias: ({ scope, parentId }, { id: variableId, key }) => ({
    title: `Alias of ${key}`,
    action: 'Add the alias',
    fields: [{ ...keyField, hint: `Another key for the value of ${key}.` }, description],
    initial: { key: '', alias_scope: scope, alias_parent_id: parentId },
    send: (draft) => api.createVariableAlias({ variableId, body: asBody(draft) }),
  }),
  delete: (_, { id: variableId, key }) => ({
    title: `Delete ${key}`,
    action: 'Delete',
    fields: [],
    initial: {},
    send: () => api.deleteVariable({ variableId }),
  }),
} as const satisfies Record<string, (place: VariablePlace, variable: Variable) => VariableForm>

/** Pure: the form of a change. */
export const formOf = (place: VariablePlace, change: VariableAct): VariableForm =>
  change.act === 'add' ? addForm(place) : forms[change.act](place, change.variable)
