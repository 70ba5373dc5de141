import { type VariablePlace, variablesKey } from '../api/reads-variables.ts'
import { useForm } from '../api/use-form.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { FormDialog } from '../ui/Dialog.tsx'
import { formOf, type VariableAct } from './variable-dialogs.ts'

interface VariableDialogProps {
  readonly place: VariablePlace
  readonly change: VariableAct
  readonly onClose: () => void
}

/** The form of a change of one variable. */
export function VariableDialog({ place, change, onClose }: VariableDialogProps) {
  const { title, action, fields, initial, send } = formOf(place, change)
  // A change of variables makes services out of date.
  const form = useForm({ fields, initial, send, changes: [variablesKey, ['environment']], onDone: onClose })
  return (
    <FormDialog
      title={title}
      isOpen
      onClose={onClose}
      action={action}
      look={change.act === 'delete' ? 'danger' : 'main'}
      isBusy={form.isBusy}
      error={form.error}
      onSubmit={form.submit}
    >
      {change.act === 'delete' && <p>Its aliases and overrides are deleted with it.</p>}
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
