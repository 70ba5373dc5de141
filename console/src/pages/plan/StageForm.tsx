import { api } from '../../api/client.ts'
import type { Stage } from '../../api/stage-rows.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import type { FieldSpec } from '../../forms/fields.ts'
import { FormDialog } from '../../ui/Dialog.tsx'

const fields: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', isRequired: true },
  { path: 'description', label: 'Description', type: 'text', keepsEmpty: true },
]

interface StageFormProps {
  readonly environmentId: string
  /** The stage that is changed. Without it, a new one is made, which is the last one. */
  readonly stage?: Stage | undefined
  readonly onClose: () => void
}

/** The name and the description of a stage. */
export function StageForm({ environmentId, stage, onClose }: StageFormProps) {
  const form = useForm({
    fields,
    initial: { name: stage?.name ?? '', description: stage?.description ?? '' },
    send: (draft) =>
      stage
        ? api.EditDeploymentStage({ deploymentStageId: stage.id, body: asBody(draft) })
        : api.CreateEnvironmentDeploymentStage({ environmentId, body: asBody(draft) }),
    changes: [['environment', environmentId]],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={stage ? `Stage “${stage.name}”` : 'New stage'}
      isOpen
      onClose={onClose}
      action={stage ? 'Save the stage' : 'Create the stage'}
      {...form.dialog}
    >
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
