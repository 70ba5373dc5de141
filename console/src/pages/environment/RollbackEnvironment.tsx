import { useQueries, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api, messageOf } from '../../api/client.ts'
import { type EnvironmentDeployment, type ServiceVersion, versionsAt } from '../../api/deployment-versions.ts'
import { isKind } from '../../api/kinds.ts'
import { services } from '../../api/reads.ts'
import { type Rollback, rollbackEffect } from '../../api/reads-deployments.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { exactTime } from '../../ui/When.tsx'
import { RolledBackService } from './RolledBackService.tsx'

interface RollbackEnvironmentProps {
  readonly environmentId: string
  readonly history: readonly EnvironmentDeployment[]
  readonly target: EnvironmentDeployment
  readonly onClose: () => void
}

/** Starts the versions of an earlier deployment again. It shows the effect first. */
export function RollbackEnvironment({ environmentId, history, target, onClose }: RollbackEnvironmentProps) {
  const { data: list } = useSuspenseQuery(services(environmentId))
  const present = new Set(list.map(({ id }) => id))
  // A deployment that ends meanwhile does not change what the person sees and confirms.
  const [wanted] = useState(() => differing(history, target).filter(({ id }) => present.has(id)))
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  const versions = wanted.flatMap((version) => rollbackOf(environmentId, version))
  const effects = useQueries({ queries: versions.map((version) => rollbackEffect(version)) })
  const isPossible = (index: number): boolean => effects[index]?.data?.services[0]?.skipped === null
  const chosen = versions.filter(({ serviceId }, index) => !leftOut.has(serviceId) && isPossible(index))
  const rollback = useChange({
    change: () => {
      const list = chosen.map(({ serviceId, executionId }) => ({ id: serviceId, execution_id: executionId }))
      return api.rollbackSelectedServices({ environmentId, body: { services: list } })
    },
    makesOld: ['environment', environmentId],
    onDone: onClose,
  })
  const isWaiting = effects.some(({ isPending }) => isPending)
  const nothing = wanted.length === 0 ? 'every service runs that version' : 'no service is chosen'
  return (
    <FormDialog
      title={`Roll back to the deployment of ${exactTime(target.auditing_data.created_at)}`}
      isOpen
      isWide
      onClose={onClose}
      action={`Roll back ${chosen.length} of ${wanted.length}`}
      isBusy={rollback.isPending}
      error={rollback.error}
      refusal={isWaiting ? 'the effect is not known yet' : chosen.length === 0 ? nothing : undefined}
      onSubmit={() => rollback.mutate()}
      preview={() => rollback.preview()}
    >
      <p>
        Each version starts without a build, with its settings, variables and secrets of that time. All of them are one
        deployment. If one cannot begin, nothing changes. Stored variables do not change.
      </p>
      {wanted.length === 0 && <p role="status">Every service that is listed runs the version of that time.</p>}
      {wanted.map(({ id, name }, index) => (
        <RolledBackService
          key={id}
          name={name}
          plan={effects[index]?.data}
          problem={effects[index]?.error ? messageOf(effects[index].error) : undefined}
          isChosen={!leftOut.has(id)}
          onChoose={(isChosen) =>
            setLeftOut(new Set([...leftOut].filter((one) => one !== id).concat(isChosen ? [] : id)))
          }
        />
      ))}
    </FormDialog>
  )
}

const rollbackOf = (environmentId: string, { id, kind, executionId }: ServiceVersion): readonly Rollback[] =>
  isKind(kind) ? [{ environmentId, kind, serviceId: id, executionId }] : []

/** Pure: the versions after a deployment that are no longer the last ones. */
function differing(
  history: readonly EnvironmentDeployment[],
  target: EnvironmentDeployment,
): readonly ServiceVersion[] {
  const now = versionsAt(history, history[0]?.identifier.execution_id ?? '')
  const then = versionsAt(history, target.identifier.execution_id)
  return [...then.values()].filter(({ id, executionId }) => now.get(id)?.executionId !== executionId)
}
