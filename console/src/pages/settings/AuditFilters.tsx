import { type FormEvent, useState } from 'react'
import { type AuditSearch, eventTypes, targetTypes } from '../../api/reads-audit.ts'
import { Button } from '../../ui/Button.tsx'
import { SelectField, TextField } from '../../ui/Field.tsx'
import { wordsOf } from '../../ui/State.tsx'
import styles from './Settings.module.css'

interface AuditFiltersProps {
  readonly search: AuditSearch
  readonly onChoose: (search: AuditSearch) => void
}

const optionsOf = (names: readonly string[]) => [
  { value: '', label: 'all' },
  ...names.map((name) => ({ value: name, label: wordsOf(name) })),
]

/** Chooses events. The address of the page has the choice, so that it can be sent to others. */
export function AuditFilters({ search, onChoose }: AuditFiltersProps) {
  const [{ type = '', target = '', person = '', from = '', to = '' }, setValues] = useState(search)
  const values = { type, target, person, from, to }
  const set = (change: AuditSearch) => setValues({ ...values, ...change })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    onChoose(Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')))
  }
  return (
    <form className={styles['filters']} onSubmit={submit} aria-label="Filters">
      <SelectField
        label="Event"
        value={type}
        onChange={(next) => set({ type: next })}
        options={optionsOf(eventTypes)}
      />
      <SelectField
        label="Target"
        value={target}
        onChange={(next) => set({ target: next })}
        options={optionsOf(targetTypes)}
      />
      <TextField label="Person" value={person} onChange={(next) => set({ person: next })} />
      <TextField label="From" type="datetime-local" value={from} onChange={(next) => set({ from: next })} />
      <TextField label="To" type="datetime-local" value={to} onChange={(next) => set({ to: next })} />
      <Button type="submit">Show</Button>
    </form>
  )
}
