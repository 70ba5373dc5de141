import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { environment, projects } from '../../api/reads.ts'
import { clusters } from '../../api/reads-making.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { type FieldSpec, type Option, optionsOf } from '../../forms/fields.ts'
import { FormDialog } from '../../ui/Dialog.tsx'

interface CloneDialogProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly name: string
  readonly onClose: () => Promise<void>
}

interface Named {
  readonly id: string
  readonly name: string
}

const asSource: Option = { value: '', label: 'as in the source' }
const choicesOf = (things: readonly Named[]): readonly Option[] =>
  things.map(({ id, name }) => ({ value: id, label: name }))

const fieldsOf = (places: readonly Named[], homes: readonly Named[]): readonly FieldSpec[] => [
  { path: 'name', label: 'Name of the copy', type: 'text', isRequired: true },
  { path: 'project_id', label: 'Project', type: 'select', options: choicesOf(homes) },
  {
    path: 'mode',
    label: 'Mode',
    type: 'select',
    options: [asSource, ...optionsOf('DEVELOPMENT', 'STAGING', 'PRODUCTION', 'PREVIEW')],
  },
  { path: 'cluster_id', label: 'Cluster', type: 'select', options: [asSource, ...choicesOf(places)] },
  {
    path: 'apply_deployment_rule',
    label: 'Apply the deployment rule of the project that matches the name',
    type: 'check',
  },
  { path: 'with_data', label: 'Copy volumes and databases, too', type: 'check' },
]

/** Copies an environment, perhaps to another project or cluster, and leads to the copy. */
export function CloneDialog({ organizationId, environmentId, name, onClose }: CloneDialogProps) {
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: homes = [] } = useQuery(projects(organizationId))
  const { data: places = [] } = useQuery(clusters(organizationId))
  const navigate = useNavigate()
  const form = useForm({
    fields: fieldsOf(places, homes),
    initial: {
      name: `${name} copy`,
      project_id: about.project.id,
      mode: null,
      cluster_id: null,
      apply_deployment_rule: false,
      with_data: false,
    },
    send: (draft) => api.cloneEnvironment({ environmentId, body: asBody(draft) }),
    changes: [['organization', organizationId, 'projects']],
    onDone: async ({ id }) => {
      // Going back shows the page without the dialog.
      await onClose()
      await navigate({
        to: '/organizations/$organizationId/environments/$environmentId',
        params: { organizationId, environmentId: id },
      })
    },
  })
  return (
    <FormDialog title={`Copy ${name}`} isOpen onClose={onClose} action="Copy" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
