import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { isLocked, type StackPlace, type StackRun } from '../../api/reads-stacks.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { useMay } from '../use-may.ts'

const actions = {
  PLAN: { word: 'Make a plan', about: 'A run plans the stack with its newest commit. It changes no resource.' },
  FORCE_UNLOCK: {
    word: 'Force unlock',
    about: 'The lock of the lost run is released. Check first that nothing still changes the resources of the stack.',
  },
  MIGRATE_STATE: {
    word: 'Move the state',
    about:
      'The state moves to the backend of the settings. Nothing is applied. It is needed once that setting changed.',
  },
} as const
type Action = keyof typeof actions

interface StackActionsProps {
  readonly place: StackPlace
  readonly runs: readonly StackRun[]
}

/** The runs of a stack that apply nothing. Each asks first. */
export function StackActions({ place, runs }: StackActionsProps) {
  const [asked, setAsked] = useState<Action>()
  const run = useChange({
    change: (action: Action) => api.deployTerraform({ terraformId: place.serviceId, body: { action } }),
    makesOld: ['environment', place.environmentId],
    onDone: () => setAsked(undefined),
  })
  const close = (): void => {
    setAsked(undefined)
    run.reset()
  }
  const forbidden = useMay()('deployTerraform')
  const locked = isLocked(runs) ? undefined : 'no run has left a lock'
  return (
    <>
      <Button onClick={() => setAsked('MIGRATE_STATE')} refusal={forbidden}>
        Move the state …
      </Button>
      <Button onClick={() => setAsked('FORCE_UNLOCK')} refusal={forbidden ?? locked} look="danger">
        Force unlock …
      </Button>
      <Button onClick={() => setAsked('PLAN')} refusal={forbidden}>
        Make a plan …
      </Button>
      {asked && (
        <FormDialog
          title={`${actions[asked].word}?`}
          isOpen
          onClose={close}
          action={actions[asked].word}
          isBusy={run.isPending}
          error={run.error}
          onSubmit={() => run.mutate(asked)}
          preview={() => run.preview(asked)}
        >
          <p>{actions[asked].about}</p>
        </FormDialog>
      )}
    </>
  )
}
