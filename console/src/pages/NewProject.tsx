import { api } from '../api/client.ts'
import { useForm } from '../api/use-form.ts'
import { asBody } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import type { FieldSpec } from '../forms/fields.ts'
import { FormDialog } from '../ui/Dialog.tsx'

const fields: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', isRequired: true },
  { path: 'description', label: 'Description', type: 'text' },
]
const initial = { name: '' }

interface NewProjectProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** The form of a new project. */
export function NewProject({ organizationId, onClose }: NewProjectProps) {
  const form = useForm({
    fields,
    initial,
    send: (draft) => api.createProject({ organizationId, body: asBody(draft) }),
    changes: [['organization', organizationId, 'projects']],
    onDone: onClose,
  })
  return (
    <FormDialog title="New project" isOpen onClose={onClose} action="Create the project" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
