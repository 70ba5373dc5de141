import type { Plan } from '../api/reads.ts'
import type { ChosenService } from '../forms/deployment-body.ts'
import { Diff } from '../ui/Diff.tsx'
import styles from './DeployDialog.module.css'
import { VersionField } from './VersionField.tsx'

const effects = {
  FIRST_START: 'starts for the first time',
  START: 'starts',
  REBUILD: 'is built and replaced',
  RESTART: 'restarts with the changes',
  KEEP: 'keeps running',
  SKIP: 'is left out',
} as const
const kindWords = { SETTING: 'setting', IMAGE: 'image', VARIABLE: 'variable', FILE: 'file' } as const

interface PlannedServiceProps {
  readonly planned: Plan['services'][number]
  readonly service: ChosenService
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
  readonly onVersion: (version: string) => void
}

/** The effect of a deployment on one service, and whether it takes part in it. */
export function PlannedService({ planned, service, isChosen, onChoose, onVersion }: PlannedServiceProps) {
  const { name, effect, reasons, branch, running_commit: commit } = planned
  const changes = planned.changed_values.map((value) => ({ ...value, kind: kindWords[value.kind] }))
  return (
    <section className={styles['service']} aria-label={name} data-left-out={!isChosen}>
      <div className={styles['head']}>
        <label>
          <input type="checkbox" checked={isChosen} onChange={({ target }) => onChoose(target.checked)} />
          <strong>{name}</strong>
        </label>
        <span>{effectWords(planned, service.version, isChosen)}</span>
        {commit && <small>runs {commit.slice(0, 8)}</small>}
      </div>
      {(isChosen || effect === 'SKIP') && <p className={styles['reasons']}>{reasons.join(' ')}</p>}
      {isChosen && (
        <>
          {changes.length > 0 && <Diff label={`Changes of ${name}`} entries={changes} />}
          <VersionField {...{ name, service, branch }} onChange={onVersion} />
        </>
      )}
    </section>
  )
}

function effectWords({ effect }: PlannedServiceProps['planned'], version: string, isChosen: boolean): string {
  if (!isChosen) return effects.SKIP
  if (version !== '') return `is deployed at ${version.slice(0, 12)}`
  return effect === 'SKIP' ? 'is deployed, too' : effects[effect]
}
