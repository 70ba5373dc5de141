import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { Stage } from '../../api/stage-rows.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import styles from './Plan.module.css'
import { StageBox } from './StageBox.tsx'
import { StageForm } from './StageForm.tsx'

interface StageListProps {
  readonly environmentId: string
  readonly stages: readonly Stage[]
  readonly nameOf: (serviceId: string) => string
}

/** A thing that somebody drags. */
export interface Dragged {
  readonly kind: 'stage' | 'service'
  readonly id: string
}

/** A change of the order, or of the stage of a service. */
export type StageChange =
  | { readonly act: 'before' | 'after'; readonly stage: string; readonly other: string }
  | { readonly act: 'attach'; readonly service: string; readonly stage: string; readonly isSkipped: boolean }
  | { readonly act: 'delete'; readonly stage: string }

/** A dialog about one stage. */
export interface StageDialog {
  readonly act: 'edit' | 'delete'
  readonly stage: Stage
}

const send = (change: StageChange): Promise<unknown> => {
  const { stage: deploymentStageId } = change
  if (change.act === 'delete') return api.DeleteDeploymentStage({ deploymentStageId })
  if (change.act === 'attach') {
    const body = { is_skipped: change.isSkipped }
    return api.AttachServiceToDeploymentStage({ deploymentStageId, serviceId: change.service, body })
  }
  const move = change.act === 'before' ? api.MoveBeforeDeploymentStage : api.MoveAfterDeploymentStage
  return move({ deploymentStageId, stageId: change.other })
}

/** The stages in the order of deployments. They and their services move by drag or by keyboard. */
export function StageList({ environmentId, stages, nameOf }: StageListProps) {
  const [dragged, setDragged] = useState<Dragged>()
  const [open, setOpen] = useState<StageDialog>()
  const close = (): void => setOpen(undefined)
  const makesOld = ['environment', environmentId]
  const change = useChange({ change: send, makesOld })
  const remove = useChange({ change: send, makesOld, onDone: close })
  const drop = (target: Stage): void => {
    setDragged(undefined)
    if (dragged?.kind === 'service') {
      const isSkipped = skippedIn(stages, dragged.id)
      change.mutate({ act: 'attach', service: dragged.id, stage: target.id, isSkipped })
    } else if (dragged && dragged.id !== target.id) {
      const isLater = stages.findIndex(({ id }) => id === dragged.id) < stages.indexOf(target)
      change.mutate({ act: isLater ? 'after' : 'before', stage: dragged.id, other: target.id })
    }
  }
  return (
    <>
      <Problem error={change.error} />
      <ol className={styles['stages']}>
        {stages.map((stage, index) => (
          <StageBox
            key={stage.id}
            {...{ stage, stages, nameOf, dragged }}
            place={index}
            onDrag={setDragged}
            onDrop={() => drop(stage)}
            onChange={change.mutate}
            onOpen={setOpen}
          />
        ))}
      </ol>
      {open?.act === 'edit' && <StageForm {...{ environmentId }} stage={open.stage} onClose={close} />}
      {open?.act === 'delete' && (
        <ConfirmDialog
          noun="stage"
          name={open.stage.name}
          losses={['the stage, which has no service']}
          isBusy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate({ act: 'delete', stage: open.stage.id })}
          preview={() => remove.preview({ act: 'delete', stage: open.stage.id })}
          onClose={close}
        />
      )}
    </>
  )
}

const skippedIn = (stages: readonly Stage[], id: string): boolean =>
  stages.some(({ services = [] }) => services.some(({ service_id, is_skipped }) => service_id === id && is_skipped))
