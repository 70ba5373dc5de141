import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { kinds } from '../../api/kinds.ts'
import { copyOperations } from '../../api/kinds-copies.ts'
import { projects } from '../../api/reads.ts'
import { operationOf } from '../../api/rights.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/Field.tsx'
import { Section } from '../../ui/Page.tsx'
import type { ServiceParams } from '../ServiceTabs.tsx'
import { useMay } from '../use-may.ts'

interface CopyServiceProps {
  readonly params: ServiceParams
  readonly name: string
}

/** Copies a service into an environment of the organization. */
export function CopyService({ params, name }: CopyServiceProps) {
  const [isOpen, setOpen] = useState(false)
  const noun = kinds[params.kind].noun.toLowerCase()
  return (
    <Section title="Copy">
      <p>A copy has the settings, variables and secrets of the {noun}. It runs once it is deployed.</p>
      <Button refusal={useMay()(operationOf('clone', params.kind))} onClick={() => setOpen(true)}>
        {`Copy the ${noun} …`}
      </Button>
      {isOpen && <CopyForm {...{ params, name }} onClose={() => setOpen(false)} />}
    </Section>
  )
}

function CopyForm({ params, name, onClose }: CopyServiceProps & { readonly onClose: () => void }) {
  const { organizationId, kind, serviceId } = params
  const [copyName, setCopyName] = useState(`${name}-copy`)
  const [environmentId, setEnvironment] = useState(params.environmentId)
  const [withData, setWithData] = useState(false)
  const { data = [] } = useQuery(projects(organizationId))
  const navigate = useNavigate()
  const body = { name: copyName, environment_id: environmentId, with_data: withData }
  const copy = useChange({
    change: () => copyOperations[kind].clone(serviceId, body),
    makesOld: ['environment', environmentId],
    onDone: ({ id }) => {
      onClose()
      void navigate({
        to: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId',
        params: { organizationId, environmentId, kind, serviceId: id },
      })
    },
  })
  const places = data.flatMap(({ name: project, environments }) =>
    environments.map((one) => ({ value: one.id, label: `${project} / ${one.name}` })),
  )
  return (
    <FormDialog
      title={`Copy ${name}`}
      isOpen
      onClose={onClose}
      action="Copy"
      isBusy={copy.isPending}
      error={copy.error}
      onSubmit={() => copy.mutate()}
      preview={() => copy.preview()}
    >
      <TextField label="Name of the copy" value={copyName} onChange={setCopyName} isRequired />
      <SelectField label="Environment" value={environmentId} onChange={setEnvironment} options={places} />
      <CheckField label="Copy its volumes, too" isChecked={withData} onChange={setWithData} />
    </FormDialog>
  )
}
