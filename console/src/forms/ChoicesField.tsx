import { CheckField } from '../ui/Field.tsx'
import { type Json, listAt, valueAt, withValue } from './draft.ts'
import type { NestedProps } from './FormFields.tsx'
import type { ChoicesSpec } from './fields.ts'
import styles from './Group.module.css'

/** Some of a few options. The body has them in the order of the options. */
export function ChoicesField({ field, draft, onChange, problemAt }: Omit<NestedProps<ChoicesSpec>, 'Fields'>) {
  const { path, label, hint, options, none, areReferences = false } = field
  const nameOf = (item: Json): Json => (areReferences ? valueAt(item, 'id') : item)
  const chosen = listAt(draft, path).map(nameOf)
  const choose = (name: string, isChosen: boolean): void => {
    const names = options.map(({ value }) => value).filter((one) => (one === name ? isChosen : chosen.includes(one)))
    onChange(withValue(draft, path, areReferences ? names.map((id) => ({ id })) : names))
  }
  const problem = problemAt(path)
  return (
    <fieldset className={styles['group']}>
      <legend>{label}</legend>
      {(hint || options.length === 0) && <p className={styles['hint']}>{options.length === 0 ? none : hint}</p>}
      {problem && (
        <p role="alert" className={styles['problem']}>
          {problem}
        </p>
      )}
      {options.map(({ value, label: words }) => (
        <CheckField
          key={value}
          label={words}
          isChecked={chosen.includes(value)}
          onChange={(isChosen) => choose(value, isChosen)}
        />
      ))}
    </fieldset>
  )
}
