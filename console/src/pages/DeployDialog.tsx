import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { api } from '../api/client.ts'
import { isKind } from '../api/kinds.ts'
import { deploymentPlan, type Plan } from '../api/reads.ts'
import { type ChosenService, deploymentBody } from '../forms/deployment-body.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import { Problem } from '../ui/Problem.tsx'
import { PlannedService } from './PlannedService.tsx'

interface DeployDialogProps {
  readonly environmentId: string
  readonly name: string
  readonly onClose: () => void
}

/** Shows the effect of a deployment on each service before it begins, and leaves some out. */
export function DeployDialog({ environmentId, name, onClose }: DeployDialogProps) {
  const { data: plan, error } = useQuery(deploymentPlan(environmentId))
  /** The choices that differ from the whole deployment. */
  const [choices, setChoices] = useState<Readonly<Record<string, boolean>>>({})
  const [versions, setVersions] = useState<Readonly<Record<string, string>>>({})
  const services = plan ? servicesOf(plan, versions) : []
  const isUsual = (id: string): boolean => plan?.services.find((one) => one.service_id === id)?.effect !== 'SKIP'
  const isChosen = (id: string): boolean => choices[id] ?? isUsual(id)
  const chosen = services.filter(({ id }) => isChosen(id))
  const isWhole = services.every(({ id, version }) => isChosen(id) === isUsual(id) && version === '')
  const send = (): Promise<unknown> =>
    isWhole
      ? api.deployEnvironment({ environmentId })
      : api.deployAllServices({ environmentId, body: deploymentBody(chosen) })
  const deploy = useChange({ change: send, onDone: onClose })
  return (
    <FormDialog
      title={`Deploy ${name}`}
      isOpen
      isWide
      onClose={onClose}
      action={isWhole ? 'Deploy' : `Deploy ${chosen.length} of ${services.length}`}
      isBusy={deploy.isPending}
      error={deploy.error}
      refusal={(isWhole && plan?.refused) || (chosen.length === 0 ? 'no service is chosen' : undefined)}
      onSubmit={() => deploy.mutate()}
      preview={() => deploy.preview()}
    >
      <Problem error={error} />
      {isWhole && plan?.refused && <p>{plan.refused}</p>}
      {!plan && !error && <p role="status">Comparing with the running versions …</p>}
      {plan?.services.map((planned) => {
        const { service_id: id } = planned
        const service = services.find((one) => one.id === id)
        return (
          service && (
            <PlannedService
              key={id}
              {...{ planned, service }}
              isChosen={isChosen(id)}
              onChoose={(choice) => setChoices({ ...choices, [id]: choice })}
              onVersion={(version) => setVersions({ ...versions, [id]: version })}
            />
          )
        )
      })}
    </FormDialog>
  )
}

const servicesOf = ({ services }: Plan, versions: Readonly<Record<string, string>>): ChosenService[] =>
  services.flatMap(({ service_id: id, service_type, branch }) => {
    const kind = service_type.toLowerCase()
    return isKind(kind) ? [{ id, kind, isFromGit: branch !== null, version: versions[id] ?? '' }] : []
  })
