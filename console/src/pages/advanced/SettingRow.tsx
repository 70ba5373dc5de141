import { fieldOf } from '../../forms/advanced.ts'
import type { Draft, Json } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { Button } from '../../ui/Button.tsx'
import styles from './Advanced.module.css'

interface SettingRowProps {
  readonly name: string
  readonly draft: Draft
  /** The default. */
  readonly usual: Json
  readonly isChanged: boolean
  readonly problem: string | undefined
  readonly onChange: (draft: Draft) => void
  readonly onReset: () => void
}

/** One setting: its control, its default, and the button that returns to it. */
export function SettingRow({ name, draft, usual, isChanged, problem, onChange, onReset }: SettingRowProps) {
  return (
    <li className={styles['setting']} data-changed={isChanged}>
      <FormFields fields={[fieldOf(name)]} draft={draft} onChange={onChange} problemAt={() => problem} />
      <div className={styles['usual']}>
        <span>
          Default: <code>{wordsOf(usual)}</code>
        </span>
        <Button onClick={onReset} refusal={isChanged ? undefined : 'it has its default'} label={`Reset ${name}`}>
          Reset
        </Button>
      </div>
    </li>
  )
}

/** Pure: a default in words. */
function wordsOf(value: Json): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value !== 'object') return String(value)
  return Object.keys(value).length === 0 ? 'none' : JSON.stringify(value)
}
