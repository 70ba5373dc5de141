import { type EnvironmentDeployment, pairsOf } from '../../api/deployment-versions.ts'
import { SelectField } from '../../ui/Field.tsx'
import { Section } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { exactTime } from '../../ui/When.tsx'
import difference from '../Difference.module.css'
import { Difference } from '../Difference.tsx'
import styles from './Deployments.module.css'

interface CompareDeploymentsProps {
  readonly environmentId: string
  readonly history: readonly EnvironmentDeployment[]
  readonly from: string
  readonly to: string
  readonly onChoose: (from: string, to: string) => void
}

/** How the versions of all services differ between two deployments. */
export function CompareDeployments({ environmentId, history, from, to, onChoose }: CompareDeploymentsProps) {
  const pairs = pairsOf(history, from, to)
  const equal = pairs.filter((pair) => pair.from === pair.to)
  const options = history.map(({ identifier, auditing_data, trigger_action }) => ({
    value: identifier.execution_id,
    label: `${exactTime(auditing_data.created_at)} ${wordsOf(trigger_action)}`,
  }))
  return (
    <Section title="Difference">
      <div className={difference['two']}>
        <SelectField label="From" value={from} options={options} onChange={(next) => onChoose(next, to)} />
        <SelectField label="To" value={to} options={options} onChange={(next) => onChoose(from, next)} />
      </div>
      {pairs
        .filter((pair) => pair.from !== pair.to)
        .map((pair) => (
          <section key={pair.id} aria-label={`Difference of ${pair.name}`} className={styles['difference']}>
            <h3>{pair.name}</h3>
            {pair.from !== undefined && pair.to !== undefined ? (
              <Difference {...{ environmentId }} serviceId={pair.id} from={pair.from} to={pair.to} />
            ) : (
              <p>{pair.from === undefined ? 'No earlier version of it is listed.' : 'It is deleted.'}</p>
            )}
          </section>
        ))}
      {equal.length > 0 && <p role="status">Without a change: {equal.map(({ name }) => name).join(', ')}.</p>}
      {pairs.length === 0 && <p role="status">Neither of them started a version.</p>}
    </Section>
  )
}
