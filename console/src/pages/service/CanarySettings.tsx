import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { advanced, advancedKey, advancedOf, type KindWithAdvanced } from '../../api/advanced.ts'
import { useForm } from '../../api/use-form.ts'
import { canaryDraft, canaryFields, canaryValues, canaryWords, hasCanary } from '../../forms/canary.ts'
import { settingsWith } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { Empty, Section } from '../../ui/Page.tsx'
import { useMay } from '../use-may.ts'

interface CanarySettingsProps {
  readonly environmentId: string
  readonly kind: KindWithAdvanced
  readonly serviceId: string
}

/** How a new version of a service gets its requests. Nothing for a service without canary steps. */
export function CanarySettings(props: CanarySettingsProps) {
  const { environmentId, kind, serviceId } = props
  const { data } = useSuspenseQuery(advanced(environmentId, kind, serviceId))
  const [isOpen, setOpen] = useState(false)
  const forbidden = useMay()('editAdvancedSettings')
  if (!hasCanary(data.values)) return null
  const actions = (
    <Button refusal={forbidden} onClick={() => setOpen(true)} label="Change how a new version gets requests">
      Change
    </Button>
  )
  return (
    <Section title="New versions" actions={actions}>
      <Empty>{canaryWords(data.values)}</Empty>
      {isOpen && <CanaryForm {...props} onClose={() => setOpen(false)} />}
    </Section>
  )
}

function CanaryForm({ environmentId, kind, serviceId, onClose }: CanarySettingsProps & { onClose(): void }) {
  const { values, defaults } = useSuspenseQuery(advanced(environmentId, kind, serviceId)).data
  const form = useForm({
    fields: canaryFields,
    initial: canaryDraft(values),
    send: (draft) => advancedOf[kind].edit(serviceId, settingsWith(values, defaults, canaryValues(draft))),
    changes: [advancedKey(environmentId, serviceId)],
    onDone: onClose,
  })
  return (
    <FormDialog title="New versions" isOpen onClose={onClose} action="Save" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
