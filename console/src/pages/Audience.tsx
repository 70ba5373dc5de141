import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { advanced, advancedKey, advancedOf, type KindWithAdvanced } from '../api/advanced.ts'
import { roles } from '../api/reads-organization.ts'
import { useForm } from '../api/use-form.ts'
import { audienceDraft, audienceFields, audienceKey, audienceValue, audienceWords } from '../forms/audience.ts'
import { settingsWith } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { Button } from '../ui/Button.tsx'
import { FormDialog } from '../ui/Dialog.tsx'
import { Empty, Section } from '../ui/Page.tsx'
import { useMay } from './use-may.ts'

interface AudienceProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly kind: KindWithAdvanced
  readonly serviceId: string
}

/** Who may open the addresses of a service. */
export function Audience(props: AudienceProps) {
  const { organizationId, environmentId, kind, serviceId } = props
  const { data } = useSuspenseQuery(advanced(environmentId, kind, serviceId))
  const { data: known } = useSuspenseQuery(roles(organizationId))
  const [isOpen, setOpen] = useState(false)
  const forbidden = useMay()('editAdvancedSettings')
  const actions = (
    <Button refusal={forbidden} onClick={() => setOpen(true)} label="Change who may open it">
      Change
    </Button>
  )
  return (
    <Section title="Who may open it" actions={actions}>
      <Empty>{audienceWords(data.values[audienceKey], known)}</Empty>
      {isOpen && <AudienceForm {...props} onClose={() => setOpen(false)} />}
    </Section>
  )
}

function AudienceForm({
  organizationId,
  environmentId,
  kind,
  serviceId,
  onClose,
}: AudienceProps & { onClose(): void }) {
  const { data } = useSuspenseQuery(advanced(environmentId, kind, serviceId))
  const { data: known } = useSuspenseQuery(roles(organizationId))
  const { values, defaults } = data
  const form = useForm({
    fields: audienceFields(known),
    initial: audienceDraft(values[audienceKey], known),
    send: (draft) =>
      advancedOf[kind].edit(serviceId, settingsWith(values, defaults, { [audienceKey]: audienceValue(draft) })),
    changes: [advancedKey(environmentId, serviceId)],
    onDone: onClose,
  })
  return (
    <FormDialog title="Who may open it" isOpen onClose={onClose} action="Save" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
