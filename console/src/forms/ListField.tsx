import { Button } from '../ui/Button.tsx'
import { type Json, listAt, withValue } from './draft.ts'
import type { NestedProps } from './FormFields.tsx'
import type { ListSpec } from './fields.ts'
import styles from './Group.module.css'

/** A list of objects, such as ports. Each has its fields and a button that removes it. */
export function ListField({ field, draft, onChange, problemAt, Fields }: NestedProps<ListSpec>) {
  const { path, label, hint, noun, fields, fresh } = field
  const items = listAt(draft, path)
  const set = (next: readonly Json[]): void => onChange(withValue(draft, path, next))
  const problem = problemAt(path)
  return (
    <fieldset className={styles['group']}>
      <legend>{label}</legend>
      {hint && <p className={styles['hint']}>{hint}</p>}
      {problem && (
        <p role="alert" className={styles['problem']}>
          {problem}
        </p>
      )}
      {items.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no name before they are sent
        <fieldset key={index} className={styles['item']} aria-label={`${noun} ${index + 1}`}>
          <Fields
            fields={fields.map((one) => ({ ...one, path: `${path}.${index}.${one.path}` }))}
            {...{ draft, onChange, problemAt }}
          />
          <div className={styles['remove']}>
            <Button
              onClick={() => set(items.filter((_one, at) => at !== index))}
            >{`Remove ${noun} ${index + 1}`}</Button>
          </div>
        </fieldset>
      ))}
      <Button onClick={() => set([...items, fresh])}>{`Add a ${noun}`}</Button>
    </fieldset>
  )
}
