import styles from './Settings.module.css'

interface PermissionSelectProps<Name extends string> {
  /** The name for people who do not see the row and the column. */
  readonly label: string
  /** The permissions, lowest first, with their words. */
  readonly options: Readonly<Record<Name, string>>
  readonly value: Name
  readonly onChange: (name: Name) => void
}

/** A permission in a cell of a matrix. */
export function PermissionSelect<Name extends string>({
  label,
  options,
  value,
  onChange,
}: PermissionSelectProps<Name>) {
  const names = Object.keys(options) as Name[]
  return (
    <select
      aria-label={label}
      className={styles['cell']}
      value={value}
      data-lowest={value === names[0]}
      onChange={({ target }) => onChange(names.find((name) => name === target.value) ?? value)}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {options[name]}
        </option>
      ))}
    </select>
  )
}
