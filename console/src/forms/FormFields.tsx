import type { ComponentType } from 'react'
import { CheckField, SelectField, TextField } from '../ui/Field.tsx'
import { ChoicesField } from './ChoicesField.tsx'
import { type Draft, type Json, valueAt, withValue } from './draft.ts'
import type { FieldSpec, SelectSpec, TextSpec } from './fields.ts'
import { ListField } from './ListField.tsx'
import { ShapeField } from './ShapeField.tsx'
import { SuggestedField } from './SuggestedField.tsx'

export interface FieldsProps {
  readonly fields: readonly FieldSpec[]
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** Returns the API's message about the field at a path. */
  readonly problemAt: (path: string) => string | undefined
}

/** The fields of a form, each with the message of the API about it. */
export const FormFields = ({ fields, ...rest }: FieldsProps) =>
  fields.map((field) => <OneField key={field.path} field={field} {...rest} />)

type OneProps<F extends FieldSpec = FieldSpec> = Omit<FieldsProps, 'fields'> & { readonly field: F }
/** A field with fields of its own, which `Fields` shows. */
export type NestedProps<F extends FieldSpec> = OneProps<F> & { readonly Fields: ComponentType<FieldsProps> }

function OneField({ field, draft, onChange, problemAt }: OneProps) {
  const value = valueAt(draft, field.path)
  const set = (next: Json): void => onChange(withValue(draft, field.path, next))
  const about = { label: field.label, hint: field.hint, problem: problemAt(field.path) }
  switch (field.type) {
    case 'check':
      return <CheckField label={field.label} isChecked={value === true} onChange={set} />
    case 'select':
      return <ChoiceField {...{ field, draft, onChange, problemAt }} />
    case 'words':
      return <TextField {...about} isLong value={wordsOf(value)} onChange={(text) => set(linesOf(text))} />
    case 'choices':
      return <ChoicesField {...{ field, draft, onChange, problemAt }} />
    case 'list':
      return <ListField {...{ field, draft, onChange, problemAt }} Fields={FormFields} />
    case 'shape':
      return <ShapeField {...{ field, draft, onChange, problemAt }} Fields={FormFields} />
    case 'number':
      return <TextField {...about} value={textOf(value)} onChange={(text) => set(numberOf(text))} />
    default:
      return <PlainField {...{ field, draft, onChange, problemAt }} />
  }
}

function ChoiceField({ field, draft, onChange, problemAt }: OneProps<SelectSpec>) {
  const { path, label, hint, options } = field
  const choose = (text: string): void => {
    const also = options.find(({ value }) => value === text)?.also
    onChange({ ...withValue(draft, path, text === '' ? null : text), ...also })
  }
  const value = textOf(valueAt(draft, path))
  return <SelectField {...{ label, hint, options, value }} problem={problemAt(path)} onChange={choose} />
}

function PlainField({ field, draft, onChange, problemAt }: OneProps<TextSpec>) {
  const { path, label, hint, type, suggest, isRequired = false, keepsEmpty = isRequired } = field
  const props = {
    ...placed(field),
    label,
    hint,
    problem: problemAt(path),
    value: textOf(valueAt(draft, path)),
    isRequired,
    onChange: (text: string) => onChange(withValue(draft, path, text === '' && !keepsEmpty ? null : text)),
  }
  if (suggest) return <SuggestedField {...props} suggest={() => suggest(besideOf(draft, path))} />
  return <TextField {...props} type={type === 'long' ? 'text' : type} isLong={type === 'long'} />
}

/** Pure: reads the texts of the fields in the object of a field. */
function besideOf(draft: Draft, path: string): (name: string) => string {
  const around = path.slice(0, path.lastIndexOf('.') + 1)
  return (name) => textOf(valueAt(draft, `${around}${name}`)).trim()
}

const placed = ({ placeholder, suggestions }: TextSpec) => ({
  ...(placeholder && { placeholder }),
  ...(suggestions && { suggestions }),
})
const textOf = (value: Json): string => (value === null || value === undefined ? '' : String(value))
const wordsOf = (value: Json): string => (Array.isArray(value) ? value.join('\n') : '')
/** Pure: one text a line. A last line without text stays while somebody writes it. */
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))
/** Pure: a number, or the text itself, about which the API complains. */
const numberOf = (text: string): Json => (/^-?\d{1,9}$/.test(text.trim()) ? Number(text) : text)
