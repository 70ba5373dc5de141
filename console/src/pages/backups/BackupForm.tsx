import { aboutBackups, type BackupPlace, backupsOf } from '../../api/backups.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import type { FieldSpec } from '../../forms/fields.ts'
import { FormDialog } from '../../ui/Dialog.tsx'

const fields: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', hint: 'Empty: a name of the platform.' },
  { path: 'message', label: 'Message', type: 'text', placeholder: 'before the migration' },
]

interface BackupFormProps {
  readonly place: BackupPlace
  readonly onClose: () => void
}

/** Makes a backup of all volumes of a service. */
export function BackupForm({ place, onClose }: BackupFormProps) {
  const form = useForm({
    fields,
    initial: { name: null, message: null },
    send: (draft) => backupsOf[place.kind].add(place.serviceId, asBody(draft)),
    changes: [aboutBackups(place)],
    onDone: onClose,
  })
  return (
    <FormDialog title="Back up now" isOpen onClose={onClose} action="Back up" {...form.dialog}>
      <p>It holds all volumes of the service, encrypted. A test restore proves it afterwards.</p>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
