import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import type { Webhook } from '../../api/reads-webhooks.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/Field.tsx'
import { ShownOnce } from '../../ui/ShownOnce.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { ChoiceField } from './ChoiceField.tsx'

const usual = ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL', 'DEPLOYMENT_FAILURE', 'DEPLOYMENT_CANCELLED'] as const
const events = [...usual, 'STACK_DRIFTED'] as const
const modes = ['PRODUCTION', 'STAGING', 'DEVELOPMENT', 'PREVIEW'] as const
const kinds = [
  { value: 'STANDARD', label: 'Standard, with all facts as JSON' },
  { value: 'SLACK', label: 'Slack, a text' },
] as const

interface WebhookFormProps {
  readonly organizationId: string
  /** The webhook to edit. Undefined for a new one. */
  readonly given: Webhook | undefined
  readonly onClose: () => void
}

/** Creates a webhook and shows the key of its signature once, or replaces one. */
export function WebhookForm({ organizationId, given, onClose }: WebhookFormProps) {
  const [values, setValues] = useState(() => valuesOf(given))
  const set = (change: Partial<typeof values>) => setValues({ ...values, ...change })
  const save = useChange({
    change: () => {
      const { projects, ...rest } = values
      const names = projects.split(',').map((name) => name.trim())
      const body = { ...rest, project_names_filter: names.filter((name) => name !== '') }
      return given
        ? api.editOrganizationWebhook({ organizationId, webhookId: given.id, body })
        : api.createOrganizationWebhook({ organizationId, body })
    },
    makesOld: inOrganization(organizationId, 'webhooks'),
    onDone: ({ signing_secret: secret }) => secret === undefined && onClose(),
  })
  const secret = save.data?.signing_secret
  if (secret !== undefined) {
    const hint = 'It is shown only now. Your receiver checks the header “webhook-signature” with it.'
    return (
      <ShownOnce title="The webhook is ready" label="Signing secret" value={secret} hint={hint} onClose={onClose} />
    )
  }
  return (
    <FormDialog
      title={given ? 'Edit the webhook' : 'Create a webhook'}
      isOpen
      onClose={onClose}
      action="Save"
      isBusy={save.isPending}
      error={save.error}
      refusal={values.events.length === 0 ? 'Choose an event first.' : undefined}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      <WebhookFields values={values} set={set} />
    </FormDialog>
  )
}

interface WebhookFieldsProps {
  readonly values: ReturnType<typeof valuesOf>
  readonly set: (change: Partial<ReturnType<typeof valuesOf>>) => void
}

const WebhookFields = ({ values, set }: WebhookFieldsProps) => (
  <>
    <TextField
      label="Address"
      value={values.target_url}
      onChange={(target_url) => set({ target_url })}
      placeholder="https://"
      isRequired
    />
    <SelectField
      label="Kind"
      value={values.kind}
      onChange={(next) => set({ kind: next === 'SLACK' ? 'SLACK' : 'STANDARD' })}
      options={kinds}
    />
    <TextField label="Description" value={values.description} onChange={(description) => set({ description })} />
    <ChoiceField
      label="Events"
      names={events}
      words={wordsOf}
      chosen={values.events}
      onChange={(chosen) => set({ events: chosen })}
    />
    <TextField
      label="Projects"
      value={values.projects}
      onChange={(projects) => set({ projects })}
      hint="Names, separated by commas; * stands for any text. Empty for all."
    />
    <ChoiceField
      label="Modes of environments; none for all"
      names={modes}
      words={wordsOf}
      chosen={values.environment_types_filter}
      onChange={(chosen) => set({ environment_types_filter: chosen })}
    />
    <CheckField label="Enabled" isChecked={values.enabled} onChange={(enabled) => set({ enabled })} />
  </>
)

/** Pure: the values of the form at its start. */
const valuesOf = (given: Webhook | undefined) => ({
  kind: given?.kind ?? ('STANDARD' as const),
  target_url: given?.target_url ?? '',
  description: given?.description ?? '',
  enabled: given?.enabled ?? true,
  events: given?.events ?? [...usual],
  projects: given?.project_names_filter.join(', ') ?? '',
  environment_types_filter: given?.environment_types_filter ?? [],
})
