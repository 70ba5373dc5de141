import { api } from '../../api/client.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import type { FieldSpec } from '../../forms/fields.ts'
import { FormDialog } from '../../ui/Dialog.tsx'

const fields: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', isRequired: true },
  { path: 'description', label: 'Description', type: 'text' },
]
const initial = { name: '' }

interface NewStageProps {
  readonly environmentId: string
  readonly onClose: () => void
}

/** The form of a new stage, which is the last one. */
export function NewStage({ environmentId, onClose }: NewStageProps) {
  const form = useForm({
    fields,
    initial,
    send: (draft) => api.CreateEnvironmentDeploymentStage({ environmentId, body: asBody(draft) }),
    changes: [['environment', environmentId]],
    onDone: onClose,
  })
  return (
    <FormDialog title="New stage" isOpen onClose={onClose} action="Create the stage" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
