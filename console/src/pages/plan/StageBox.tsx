import type { Stage } from '../../api/stage-rows.ts'
import { Button } from '../../ui/Button.tsx'
import { useMay } from '../use-may.ts'
import styles from './Plan.module.css'
import type { Dragged, StageChange, StageDialog } from './StageList.tsx'

interface StageBoxProps {
  readonly stage: Stage
  readonly stages: readonly Stage[]
  /** The number of stages before it. */
  readonly place: number
  readonly nameOf: (serviceId: string) => string
  readonly dragged: Dragged | undefined
  readonly onDrag: (dragged: Dragged | undefined) => void
  readonly onDrop: () => void
  readonly onChange: (change: StageChange) => void
  readonly onOpen: (dialog: StageDialog) => void
}

/** A stage with its services. */
export function StageBox({ stage, stages, place, nameOf, dragged, onDrag, onDrop, onChange, onOpen }: StageBoxProps) {
  const { id, name, services } = stage
  const [before, after] = [stages[place - 1], stages[place + 1]]
  const full = services.length > 0 ? 'it has services' : undefined
  const forbidden = useMay()('MoveAfterDeploymentStage')
  const refusal = forbidden ?? full ?? (stages.length === 1 ? 'it is the last stage' : undefined)
  return (
    <li
      className={styles['stage']}
      data-target={dragged !== undefined && dragged.id !== id}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      <header>
        <h3
          draggable={!forbidden}
          onDragStart={() => onDrag({ kind: 'stage', id })}
          onDragEnd={() => onDrag(undefined)}
        >
          {name}
        </h3>
        <Button
          label={`Move ${name} earlier`}
          refusal={forbidden ?? (before ? undefined : 'it is the first stage')}
          onClick={() => before && onChange({ act: 'before', stage: id, other: before.id })}
        >
          ←
        </Button>
        <Button
          label={`Move ${name} later`}
          refusal={forbidden ?? (after ? undefined : 'it is the last stage')}
          onClick={() => after && onChange({ act: 'after', stage: id, other: after.id })}
        >
          →
        </Button>
        <Button label={`Edit ${name}`} refusal={forbidden} onClick={() => onOpen({ act: 'edit', stage })}>
          Edit
        </Button>
        <Button label={`Delete ${name}`} refusal={refusal} onClick={() => onOpen({ act: 'delete', stage })}>
          ×
        </Button>
      </header>
      {stage.description && <p className={styles['about']}>{stage.description}</p>}
      <ul>
        {services.map(({ service_id: service, is_skipped: isSkipped }) => (
          <li
            key={service}
            className={styles['service']}
            draggable={!forbidden}
            onDragStart={() => onDrag({ kind: 'service', id: service })}
            onDragEnd={() => onDrag(undefined)}
          >
            <div>{nameOf(service)}</div>
            <select
              aria-label={`Stage of ${nameOf(service)}`}
              value={id}
              disabled={forbidden !== undefined}
              title={forbidden}
              onChange={({ target }) => onChange({ act: 'attach', service, stage: target.value, isSkipped })}
            >
              {stages.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>{' '}
            <label>
              <input
                type="checkbox"
                checked={isSkipped}
                disabled={forbidden !== undefined}
                onChange={() => onChange({ act: 'attach', service, stage: id, isSkipped: !isSkipped })}
              />{' '}
              left out
            </label>
          </li>
        ))}
      </ul>
    </li>
  )
}
