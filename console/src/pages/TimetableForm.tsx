import { useForm } from '../api/use-form.ts'
import { asBody, type Draft, valueAt } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import type { FieldSpec } from '../forms/fields.ts'
import { cronWords } from '../ui/cron-words.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import type { Timetable } from './TimetableWords.tsx'

const fields: readonly FieldSpec[] = [
  {
    path: 'cron_at',
    label: 'Timetable',
    type: 'text',
    placeholder: '0 3 * * *',
    hint: 'Minute, hour, day of the month, month, day of the week. Empty: never.',
  },
  { path: 'timezone', label: 'Time zone', type: 'text', isRequired: true, placeholder: 'Europe/Paris' },
]

interface TimetableFormProps {
  readonly title: string
  readonly policy: Timetable
  /** Further fields, with their values. */
  readonly more?: { readonly fields: readonly FieldSpec[]; readonly values: Draft }
  readonly save: (body: { cron_at: string | null; timezone: string }) => Promise<unknown>
  /** The beginning of the keys of the reads that it makes old. */
  readonly changes: readonly string[]
  readonly onClose: () => void
}

/** Changes a timetable. It says in words when it would be. */
export function TimetableForm({ title, policy, more, save, changes, onClose }: TimetableFormProps) {
  const form = useForm({
    fields: [...fields, ...(more?.fields ?? [])],
    initial: { cron_at: policy.cron_at, timezone: policy.timezone, ...more?.values },
    send: (draft) => save(asBody(draft)),
    changes: [changes],
    onDone: onClose,
  })
  const cron = valueAt(form.draft, 'cron_at')
  return (
    <FormDialog title={title} isOpen onClose={onClose} action="Save" {...form.dialog}>
      <FormFields {...form.inputs} />
      <p role="status">{typeof cron === 'string' ? cronWords(cron) : 'Never'}</p>
    </FormDialog>
  )
}
