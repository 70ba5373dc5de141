import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { messageOf } from '../../api/client.ts'
import { useLiveDraft } from '../../api/live-draft.ts'
import { changedSettings, draftOf, keyIn, keysAt, pathOf, shownValue } from '../../forms/advanced.ts'
import { type Draft, isSame, withValue } from '../../forms/draft.ts'
import { AsCurl } from '../../ui/AsCurl.tsx'
import { Button } from '../../ui/Button.tsx'
import { ChangedByOthers } from '../../ui/ChangedByOthers.tsx'
import { CheckField, TextField } from '../../ui/Field.tsx'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import styles from './Advanced.module.css'
import { SettingRow } from './SettingRow.tsx'

interface AdvancedSettingsProps {
  readonly defaults: Draft
  readonly values: Draft
  readonly save: (settings: Draft) => Promise<unknown>
  readonly makesOld: readonly string[]
  /** Why the person may not save them. */
  readonly forbidden: string | undefined
}

/** All advanced settings of a service or a cluster, with their defaults. */
export function AdvancedSettings({ defaults, values, save, makesOld, forbidden }: AdvancedSettingsProps) {
  const [text, setText] = useState('')
  const [isShort, setShort] = useState(false)
  const saving = useChange({ change: (changed: Draft) => save(changedSettings(changed, defaults)), makesOld })
  const isAccepted = saving.isPending || saving.isSuccess
  const { draft, setDraft, others } = useLiveDraft(draftOf(values), isAccepted ? saving.variables : undefined)
  const sent = changedSettings(draft, defaults)
  const keys = Object.keys(defaults)
  const message = saving.error ? messageOf(saving.error) : ''
  const wrong = keyIn(message, keys)
  const shown = keys.filter(
    (key) => key === wrong || (key.includes(text.trim()) && (!isShort || Object.hasOwn(sent, key))),
  )
  const isSaved = isSame(sent, changedSettings(draftOf(values), defaults))
  return (
    <>
      <div className={styles['tools']}>
        <TextField label="Find a setting" value={text} onChange={setText} placeholder="timeout" />
        <CheckField label="Only changed ones" isChecked={isShort} onChange={setShort} />
        {!isSaved && <AsCurl preview={() => saving.preview(draft)} />}
        <Button
          look="main"
          onClick={() => saving.mutate(draft)}
          isBusy={saving.isPending}
          refusal={forbidden ?? refusalOf(isSaved)}
        >
          Save
        </Button>
      </div>
      <p role="status">{isSaved ? 'Everything is saved.' : 'There are changes that are not saved.'}</p>
      {wrong === undefined && <Problem error={saving.error} />}
      <ChangedByOthers fields={others && { taken: keysAt(others.taken), kept: keysAt(others.kept) }} />
      {shown.length === 0 && <Empty>No setting fits.</Empty>}
      <ul className={styles['settings']}>
        {shown.map((key) => (
          <SettingRow
            key={key}
            {...{ name: key, draft, usual: defaults[key], isChanged: Object.hasOwn(sent, key) }}
            problem={key === wrong ? message : undefined}
            onChange={setDraft}
            onReset={() => setDraft(withValue(draft, pathOf(key), shownValue(key, defaults[key])))}
          />
        ))}
      </ul>
    </>
  )
}

const refusalOf = (isSaved: boolean): string | undefined => (isSaved ? 'nothing is changed' : undefined)
