import type { ReactNode } from 'react'
import { type VariablePlace, variablesKey } from '../api/reads-variables.ts'
import { useForm } from '../api/use-form.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { FormDialog } from '../ui/Dialog.tsx'
import { formOf, type VariableAct } from './variable-dialogs.ts'

interface VariableDialogProps {
  readonly place: VariablePlace
  readonly change: VariableAct
  readonly onClose: () => void
  /** Above the fields, such as the effect of a deletion. */
  readonly children?: ReactNode
}

const none = (): readonly string[] => []

/** The form of a change of one variable. */
export function VariableDialog({ place, change, onClose, children }: VariableDialogProps) {
  const { title, action, fields, initial, send, secrets = none } = formOf(place, change)
  // A change of variables makes services out of date.
  const form = useForm({ fields, initial, send, secrets, changes: [variablesKey, ['environment']], onDone: onClose })
  return (
    <FormDialog
      title={title}
      isOpen
      onClose={onClose}
      action={action}
      look={change.act === 'delete' ? 'danger' : 'main'}
      {...form.dialog}
    >
      {children}
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
