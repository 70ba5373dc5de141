import type { ReactNode } from 'react'
import type { ProjectRule } from '../../api/reads-rules.ts'
import { Empty } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Week } from '../plan/Week.tsx'
import { clockOf } from '../plan/week.ts'
import styles from './Rules.module.css'

interface RuleListProps {
  readonly rules: readonly ProjectRule[]
  readonly clusterOf: (id: string) => string
  /** The rule to which the words belong, such as the one that matches an environment. */
  readonly marked?: { readonly id: string; readonly words: string }
  /** The buttons of a rule. */
  readonly actionsOf?: (rule: ProjectRule, place: number) => ReactNode
}

/** The deployment rules of a project, each with its week. The first one that matches counts. */
export const RuleList = ({ rules, clusterOf, marked, actionsOf }: RuleListProps) =>
  rules.length === 0 ? (
    <Empty>The project has no rule. New environments get the mode and the cluster of their form.</Empty>
  ) : (
    <ol className={styles['rules']}>
      {rules.map((rule, index) => (
        <li key={rule.id} className={styles['rule']}>
          <header>
            <h3>{rule.name}</h3>
            <code>{rule.wildcard}</code>
            {marked?.id === rule.id && <mark>{marked.words}</mark>}
            <div className={styles['actions']}>{actionsOf?.(rule, index)}</div>
          </header>
          {rule.description && <p>{rule.description}</p>}
          <p className={styles['about']}>
            {wordsOf(rule.mode)} on {clusterOf(rule.cluster_id)}.{' '}
            {rule.auto_stop ? `Stopped outside of these hours (${rule.timezone}).` : 'It always runs.'}
          </p>
          {rule.auto_stop && (
            <Week days={rule.weekdays} start={clockOf(rule.start_time)} stop={clockOf(rule.stop_time)} />
          )}
        </li>
      ))}
    </ol>
  )
