import styles from './Settings.module.css'

interface ChoiceFieldProps<Name extends string> {
  readonly label: string
  readonly names: readonly Name[]
  readonly words: (name: Name) => string
  readonly chosen: readonly Name[]
  readonly onChange: (chosen: Name[]) => void
}

/** Some of a few names. */
export const ChoiceField = <Name extends string>({ label, names, words, chosen, onChange }: ChoiceFieldProps<Name>) => (
  <fieldset className={styles['choice']}>
    <legend>{label}</legend>
    {names.map((name) => (
      <label key={name}>
        <input
          type="checkbox"
          checked={chosen.includes(name)}
          onChange={({ target }) =>
            onChange(names.filter((one) => (one === name ? target.checked : chosen.includes(one))))
          }
        />
        {words(name)}
      </label>
    ))}
  </fieldset>
)
