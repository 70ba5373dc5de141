import { type HistoryEntry, versionOf } from '../api/history-rows.ts'
import { SelectField } from '../ui/Field.tsx'
import { exactTime } from '../ui/When.tsx'
import styles from './Difference.module.css'

interface TwoVersionsProps {
  readonly history: readonly HistoryEntry[]
  readonly from?: string
  readonly to?: string
  readonly onChoose: (two: { readonly from: string; readonly to: string }) => void
}

/** Chooses the two versions that are compared. */
export function TwoVersions({ history, from = '', to = '', onChoose }: TwoVersionsProps) {
  const options = history.map(({ identifier, auditing_data: { created_at }, details }) => ({
    value: identifier.execution_id,
    label: `${exactTime(created_at)} ${versionOf(details)}`,
  }))
  return (
    <div className={styles['two']}>
      <SelectField label="From" value={from} options={options} onChange={(next) => onChoose({ from: next, to })} />
      <SelectField label="To" value={to} options={options} onChange={(next) => onChoose({ from, to: next })} />
    </div>
  )
}
