import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { clusters } from '../../api/reads-making.ts'
import type { ProjectRule } from '../../api/reads-rules.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody, type Draft } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { type FieldSpec, type Option, optionsOf } from '../../forms/fields.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { type Hours, HoursFields, hoursBody, hoursIn } from '../plan/HoursFields.tsx'
import type { ProjectParams } from './ProjectFrame.tsx'

const fieldsOf = (places: readonly Option[]): readonly FieldSpec[] => [
  { path: 'name', label: 'Name', type: 'text', isRequired: true },
  { path: 'description', label: 'Description', type: 'text' },
  {
    path: 'wildcard',
    label: 'Names of environments',
    type: 'text',
    isRequired: true,
    hint: '* is any text, ? is one character.',
    placeholder: 'feature-*',
  },
  {
    path: 'mode',
    label: 'Mode',
    type: 'select',
    options: optionsOf('DEVELOPMENT', 'STAGING', 'PRODUCTION', 'PREVIEW'),
  },
  { path: 'cluster_id', label: 'Cluster', type: 'select', options: places },
]

const usualHours: Hours = {
  auto_stop: false,
  timezone: 'Etc/UTC',
  start: '08:00',
  stop: '19:00',
  days: ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'],
}

interface RuleFormProps {
  readonly params: ProjectParams
  /** The rule that is changed. Without it, a new one is made. */
  readonly rule?: ProjectRule | undefined
  readonly onClose: () => void
}

/** The form of a deployment rule of a project. */
export function RuleForm({ params: { organizationId, projectId }, rule, onClose }: RuleFormProps) {
  const { data: places } = useSuspenseQuery(clusters(organizationId))
  const [hours, setHours] = useState(() => (rule ? hoursIn(rule) : usualHours))
  const first = places.find(({ is_default }) => is_default) ?? places[0]
  const form = useForm({
    fields: fieldsOf(places.map(({ id, name }) => ({ value: id, label: name }))),
    initial: rule ? aboutOf(rule) : { name: '', wildcard: '*', mode: 'DEVELOPMENT', cluster_id: first?.id },
    send: (draft) => {
      const body = asBody<Parameters<typeof api.createDeploymentRule>[0]['body']>({ ...draft, ...hoursBody(hours) })
      return rule
        ? api.editProjectDeployemtnRule({ projectId, deploymentRuleId: rule.id, body })
        : api.createDeploymentRule({ projectId, body })
    },
    changes: [['project', projectId]],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={rule ? `Rule “${rule.name}”` : 'New rule'}
      isOpen
      isWide
      onClose={onClose}
      action={rule ? 'Save the rule' : 'Create the rule'}
      {...form.dialog}
    >
      <FormFields {...form.inputs} />
      <HoursFields hours={hours} onChange={setHours} />
    </FormDialog>
  )
}

const aboutOf = ({ name, description, wildcard, mode, cluster_id }: ProjectRule): Draft => ({
  name,
  description,
  wildcard,
  mode,
  cluster_id,
})
