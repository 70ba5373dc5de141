import { SelectField } from '../ui/Field.tsx'
import { valueAt, withValue } from './draft.ts'
import type { NestedProps } from './FormFields.tsx'
import type { ShapeSpec } from './fields.ts'
import styles from './Group.module.css'

/** A value with one of several shapes: which one, and the fields of it. */
export function ShapeField({ field, draft, onChange, problemAt, Fields }: NestedProps<ShapeSpec>) {
  const { path, label, hint, shapes } = field
  const value = valueAt(draft, path)
  const isChosen = (mark: string): boolean =>
    mark !== '' && valueAt(value, mark) !== undefined && valueAt(value, mark) !== null
  const chosen = shapes.find(({ mark }) => isChosen(mark)) ?? shapes.find(({ mark }) => mark === '') ?? shapes[0]
  const choose = (name: string): void =>
    onChange(withValue(draft, path, shapes.find((shape) => shape.label === name)?.fresh ?? null))
  return (
    <div className={styles['group']}>
      <SelectField
        label={label}
        hint={hint}
        problem={problemAt(path)}
        value={chosen?.label ?? ''}
        options={shapes.map((shape) => ({ value: shape.label, label: shape.label }))}
        onChange={choose}
      />
      <Fields
        fields={(chosen?.fields ?? []).map((one) => ({ ...one, path: `${path}.${one.path}` }))}
        {...{ draft, onChange, problemAt }}
      />
    </div>
  )
}
