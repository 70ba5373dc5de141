import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { type EndingName, uninstallations } from '../../api/endings.ts'
import { kinds } from '../../api/kinds.ts'
import { copyOperations } from '../../api/kinds-copies.ts'
import { lossesOf, type Service } from '../../api/losses.ts'
import { operationOf } from '../../api/rights.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { Losses } from '../../ui/Losses.tsx'
import type { ServiceParams } from '../ServiceTabs.tsx'
import { useMay } from '../use-may.ts'
import { EndingField } from './EndingField.tsx'

interface UninstallServiceProps {
  readonly params: ServiceParams
  readonly service: Service
}

/** Removes the running service with its data, and keeps its settings. */
export function UninstallService({ params: { environmentId, kind, serviceId }, service }: UninstallServiceProps) {
  const [isOpen, setOpen] = useState(false)
  const [ending, setEnding] = useState<EndingName>('ALL')
  const noun = kinds[kind].noun.toLowerCase()
  const refusal = useMay()(operationOf('uninstall', kind))
  const uninstall = useChange({
    change: () => copyOperations[kind].uninstall(serviceId, ending),
    makesOld: ['environment', environmentId],
    onDone: () => setOpen(false),
  })
  const close = (): void => {
    setOpen(false)
    uninstall.reset()
  }
  return (
    <>
      <Button look="danger" refusal={refusal} onClick={() => setOpen(true)}>{`Uninstall the ${noun} …`}</Button>
      <FormDialog
        title={`Uninstall “${service.name}”?`}
        isOpen={isOpen}
        onClose={close}
        action="Uninstall"
        look="danger"
        isBusy={uninstall.isPending}
        error={uninstall.error}
        onSubmit={() => uninstall.mutate()}
        preview={() => uninstall.preview()}
      >
        <p>It stops, and everything that it runs with is removed. Its settings and variables stay.</p>
        <EndingField label="It erases" endings={uninstallations[kind]} value={ending} onChange={setEnding} />
        <Losses losses={lossesOf(service, ending)} />
      </FormDialog>
    </>
  )
}
