import { useSuspenseQuery } from '@tanstack/react-query'
import { useRequests } from '../api/change.ts'
import { kinds } from '../api/kinds.ts'
import { services, stageNames, stages } from '../api/reads.ts'
import { stageRows } from '../api/stage-rows.ts'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Problem } from '../ui/Problem.tsx'
import { useMay } from './use-may.ts'

interface OutOfDateProps {
  readonly environmentId: string
  /** Only this service. Without it, all of the environment. */
  readonly serviceId?: string
}

/** Names the services that run with older settings or variables, and deploys them. */
export function OutOfDate({ environmentId, serviceId }: OutOfDateProps) {
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const old = stageRows(statuses, names, list)
    .flatMap((stage) => stage.services)
    .filter(({ id, status }) => status.service_deployment_status === 'OUT_OF_DATE' && (serviceId ?? id) === id)
  const deploy = useRequests({
    requests: () =>
      old.map(
        ({ id, kind }) =>
          () =>
            kinds[kind].deploy(id),
      ),
  })
  const may = useMay()
  if (old.length === 0) return null
  return (
    <Notice>
      <Problem error={deploy.error} />
      <span>
        {old.map(({ name }) => name).join(', ')} still {old.length === 1 ? 'runs' : 'run'} without the last changes.
      </span>
      <Button isBusy={deploy.isPending} refusal={may('deployEnvironment')} onClick={() => deploy.mutate()}>
        Deploy with the changes
      </Button>
    </Notice>
  )
}
