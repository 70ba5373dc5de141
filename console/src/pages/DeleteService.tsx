import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { deletions, type EndingName } from '../api/endings.ts'
import { kinds } from '../api/kinds.ts'
import { lossesOf, type Service } from '../api/losses.ts'
import { attachments } from '../api/reads-making.ts'
import { operationOf } from '../api/rights.ts'
import { Button } from '../ui/Button.tsx'
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx'
import { Section } from '../ui/Page.tsx'
import { EndingField } from './service/EndingField.tsx'
import styles from './service/Service.module.css'
import { UninstallService } from './service/UninstallService.tsx'
import { useMay } from './use-may.ts'

interface DeleteServiceProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
  readonly service: Service
}

/** Deletes a service once its name is typed, and leads to its environment. */
export function DeleteService({ organizationId, environmentId, kind, serviceId, service }: DeleteServiceProps) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const [ending, setEnding] = useState<EndingName>('ALL')
  const keepsRecord = ending === 'RESOURCES_ONLY'
  const refusal = useMay()(operationOf('delete', kind))
  const attached = useQuery({ ...attachments(environmentId, kind, serviceId), enabled: isOpen })
  const remove = useChange({
    change: async () => {
      await kinds[kind].remove(serviceId, ending)
      if (keepsRecord) setOpen(false)
      else {
        await navigate({
          to: '/organizations/$organizationId/environments/$environmentId',
          params: { organizationId, environmentId },
        })
      }
    },
    makesOld: ['environment', environmentId],
  })
  const noun = kinds[kind].noun.toLowerCase()
  const record = [`the ${noun} with its settings and variables`, ...(attached.data ?? [])]
  return (
    <Section title="Danger zone">
      <p>Both stop the service and erase its data. A deletion also erases its settings.</p>
      <div className={styles['row']}>
        <UninstallService params={{ organizationId, environmentId, kind, serviceId }} service={service} />
        <Button look="danger" refusal={refusal} onClick={() => setOpen(true)}>{`Delete the ${noun}`}</Button>
      </div>
      {isOpen && !attached.isPending && (
        <ConfirmDialog
          noun={noun}
          name={service.name}
          losses={[...lossesOf(service, ending), ...(keepsRecord ? [] : record)]}
          isBusy={remove.isPending}
          error={remove.error ?? attached.error}
          onConfirm={() => remove.mutate()}
          preview={() => remove.preview()}
          onClose={() => setOpen(false)}
        >
          <EndingField label="It deletes" endings={deletions[kind]} value={ending} onChange={setEnding} />
        </ConfirmDialog>
      )}
    </Section>
  )
}
