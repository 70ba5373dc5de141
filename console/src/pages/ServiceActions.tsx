import { type Action, refusal } from '@quayside/contract/states.ts'
import { useChange } from '../api/change.ts'
import { api } from '../api/client.ts'
import { type KindName, kinds } from '../api/kinds.ts'
import { versionOperations } from '../api/kinds-deployments.ts'
import { operationOf } from '../api/rights.ts'
import type { ServiceRow } from '../api/stage-rows.ts'
import { Button } from '../ui/Button.tsx'
import { Problem } from '../ui/Problem.tsx'
import { useMay } from './use-may.ts'

interface ServiceActionsProps {
  readonly kind: KindName
  readonly serviceId: string
  readonly status: ServiceRow['status']
}

/** The actions on a service. One that its state forbids says why. */
export function ServiceActions({ kind, serviceId, status }: ServiceActionsProps) {
  const { stop, restart, deploy } = kinds[kind]
  const { redeploy } = versionOperations[kind]
  const act = useChange({ change: (work: (id: string) => Promise<unknown>) => work(serviceId) })
  const cancel = useChange({
    change: (deploymentRequestId: string) => api.cancelDeploymentRequest({ deploymentRequestId }),
  })
  const { state, deployment_request_id: request, service_deployment_status: deployed } = status
  // All these actions need the same permission.
  const forbidden = useMay()(operationOf('deploy', kind))
  const why = (action: Action) => forbidden ?? refusal(action, state)
  const isNew = deployed === 'NEVER_DEPLOYED' ? 'it was never deployed' : undefined
  const button = (name: string, work: (id: string) => Promise<unknown>, reason: string | undefined) => (
    <Button refusal={reason} isBusy={act.isPending} onClick={() => act.mutate(work)}>
      {name}
    </Button>
  )
  return (
    <>
      <Problem error={act.error ?? cancel.error} />
      {request && (
        <Button isBusy={cancel.isPending} refusal={forbidden} onClick={() => cancel.mutate(request)}>
          Cancel
        </Button>
      )}
      {stop && button('Stop', stop, why('STOP'))}
      {restart && button('Restart', restart, why('RESTART'))}
      {button('Same version', redeploy, forbidden ?? isNew ?? why('DEPLOY'))}
      <Button look="main" refusal={why('DEPLOY')} isBusy={act.isPending} onClick={() => act.mutate(deploy)}>
        Deploy
      </Button>
    </>
  )
}
