import { type ReactNode, useId } from 'react'
import styles from './Field.module.css'

interface FieldProps {
  readonly label: string
  /** A sentence below the label. */
  readonly hint?: string | undefined
  /** The message of the API about this field. */
  readonly problem?: string | undefined
  readonly children: (ids: { readonly id: string; readonly describedBy: string }) => ReactNode
}

/** A label with its control, its hint and the message about it. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId()
  const describedBy = `${id}-about`
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      {children({ id, describedBy })}
      <div id={describedBy}>
        {hint && <span className={styles['hint']}>{hint}</span>}
        {problem && (
          <span role="alert" className={styles['problem']}>
            {problem}
          </span>
        )}
      </div>
    </div>
  )
}

type Given = Omit<FieldProps, 'children'>

interface TextFieldProps extends Given {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'text' | 'number' | 'password' | 'url' | 'email' | 'datetime-local' | 'time'
  /** Several lines. */
  readonly isLong?: boolean
  readonly placeholder?: string
  readonly isRequired?: boolean
  /** Usual values, which the browser offers while somebody types. */
  readonly suggestions?: readonly string[]
  readonly onFocus?: () => void
}

export function TextField({
  value,
  onChange,
  type = 'text',
  isLong = false,
  isRequired = false,
  ...rest
}: TextFieldProps) {
  const { placeholder, suggestions = [], onFocus, ...given } = rest
  return (
    <Field {...given}>
      {({ id, describedBy }) => {
        const shared = { id, value, placeholder, onFocus, required: isRequired, 'aria-describedby': describedBy }
        return isLong ? (
          <textarea
            {...shared}
            rows={6}
            spellCheck={false}
            className={styles['control']}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <>
            <input
              {...shared}
              type={type}
              list={suggestions.length > 0 ? `${id}-list` : undefined}
              className={styles['control']}
              autoComplete="off"
              onChange={({ target }) => onChange(target.value)}
            />
            {suggestions.length > 0 && (
              <datalist id={`${id}-list`}>
                {suggestions.map((suggestion) => (
                  <option key={suggestion} value={suggestion} />
                ))}
              </datalist>
            )}
          </>
        )
      }}
    </Field>
  )
}

interface SelectFieldProps extends Given {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly { readonly value: string; readonly label: string }[]
}

export function SelectField({ value, onChange, options, ...given }: SelectFieldProps) {
  return (
    <Field {...given}>
      {({ id, describedBy }) => (
        <select
          id={id}
          value={value}
          className={styles['control']}
          aria-describedby={describedBy}
          onChange={({ target }) => onChange(target.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface CheckFieldProps {
  readonly label: string
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
}

export const CheckField = ({ label, isChecked, onChange }: CheckFieldProps) => (
  <label className={styles['check']}>
    <input type="checkbox" checked={isChecked} onChange={({ target }) => onChange(target.checked)} />
    {label}
  </label>
)
