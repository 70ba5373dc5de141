import type { RollbackPlan } from '../../api/reads-deployments.ts'
import styles from '../DeployDialog.module.css'

interface RolledBackServiceProps {
  readonly name: string
  /** Undefined until it is known. */
  readonly plan: RollbackPlan | undefined
  readonly problem: string | undefined
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
}

/** The effect of a rollback on one service, and whether it takes part in it. */
export function RolledBackService({ name, plan, problem, isChosen, onChoose }: RolledBackServiceProps) {
  const [service] = plan?.services ?? []
  const cannot = problem ?? service?.skipped ?? undefined
  const changed = [...(plan?.changed_settings ?? []), ...(service?.changed_variables ?? [])]
  return (
    <section className={styles['service']} aria-label={name} data-left-out={!isChosen || cannot !== undefined}>
      <div className={styles['head']}>
        <label>
          <input
            type="checkbox"
            checked={isChosen && cannot === undefined}
            disabled={cannot !== undefined}
            onChange={({ target }) => onChoose(target.checked)}
          />
          <strong>{name}</strong>
        </label>
        <span role="status">
          {cannot ?? (plan ? service?.reasons.join(' ') : 'Comparing with the running version …')}
        </span>
      </div>
      {changed.length > 0 && (
        <p className={styles['reasons']}>
          Changes with it: <code>{changed.join(', ')}</code>
        </p>
      )}
    </section>
  )
}
