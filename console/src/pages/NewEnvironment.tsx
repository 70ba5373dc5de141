import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { clusters } from '../api/reads-making.ts'
import { useForm } from '../api/use-form.ts'
import { asBody } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { type FieldSpec, type Option, optionsOf } from '../forms/fields.ts'
import { FormDialog } from '../ui/Dialog.tsx'

const fieldsOf = (places: readonly Option[]): readonly FieldSpec[] => [
  { path: 'name', label: 'Name', type: 'text', isRequired: true, placeholder: 'staging' },
  {
    path: 'mode',
    label: 'Mode',
    type: 'select',
    hint: 'Roles may allow less in production.',
    options: optionsOf('DEVELOPMENT', 'STAGING', 'PRODUCTION', 'PREVIEW'),
  },
  { path: 'cluster', label: 'Cluster', type: 'select', hint: 'Where its services run.', options: places },
]

interface NewEnvironmentProps {
  readonly organizationId: string
  readonly project: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** The form of a new environment. It leads to the environment. */
export function NewEnvironment({ organizationId, project, onClose }: NewEnvironmentProps) {
  const navigate = useNavigate()
  const { data: places } = useSuspenseQuery(clusters(organizationId))
  const first = places.find(({ is_default }) => is_default) ?? places[0]
  const form = useForm({
    fields: fieldsOf(places.map(({ id, name }) => ({ value: id, label: name }))),
    initial: { name: '', mode: 'DEVELOPMENT', cluster: first?.id },
    send: (draft) => api.createEnvironment({ projectId: project.id, body: asBody(draft) }),
    changes: [['organization', organizationId, 'projects']],
    onDone: ({ id }) =>
      void navigate({
        to: '/organizations/$organizationId/environments/$environmentId',
        params: { organizationId, environmentId: id },
      }),
  })
  return (
    <FormDialog
      title={`New environment of ${project.name}`}
      isOpen
      onClose={onClose}
      action="Create the environment"
      {...form.dialog}
    >
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
