import { type Action, refusal } from '@quayside/contract/states.ts'
import { useMutation } from '@tanstack/react-query'
import { type KindName, kinds } from '../api/kinds.ts'
import { Button } from '../ui/Button.tsx'
import { Problem } from '../ui/Problem.tsx'

interface ServiceActionsProps {
  readonly kind: KindName
  readonly serviceId: string
  readonly state: string
}

/** The buttons that act on a service as it is now. */
export function ServiceActions({ kind, serviceId, state }: ServiceActionsProps) {
  const { stop, restart, deploy } = kinds[kind]
  const act = useMutation({ mutationFn: (work: (id: string) => Promise<unknown>) => work(serviceId) })
  // The state comes from the contract, whose type is wider than the states of a service.
  const why = (action: Action) => refusal(action, state as Parameters<typeof refusal>[1])
  return (
    <>
      <Problem error={act.error} />
      {stop && (
        <Button refusal={why('STOP')} isBusy={act.isPending} onClick={() => act.mutate(stop)}>
          Stop
        </Button>
      )}
      {restart && (
        <Button refusal={why('RESTART')} isBusy={act.isPending} onClick={() => act.mutate(restart)}>
          Restart
        </Button>
      )}
      <Button look="main" refusal={why('DEPLOY')} isBusy={act.isPending} onClick={() => act.mutate(deploy)}>
        Deploy
      </Button>
    </>
  )
}
