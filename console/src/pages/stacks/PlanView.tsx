import type { PlannedResource, StackPlan } from '../../api/reads-stacks.ts'
import { countWords, signs } from '../../ui/plan-words.ts'
import { Table } from '../../ui/Table.tsx'
import styles from './Stacks.module.css'

/** A plan, resource by resource. Sensitive values are masked by the API. */
export function PlanView({ plan }: { readonly plan: Omit<StackPlan, 'run'> }) {
  const { counts, resources, outputs, drift } = plan
  return (
    <>
      <p>{countWords(counts)}</p>
      <Resources resources={resources} />
      {outputs.length > 0 && <p>Outputs that change: {outputs.join(', ')}</p>}
      {drift.length > 0 && (
        <>
          <p>Changed outside of the stack since its last apply:</p>
          <Resources resources={drift} />
        </>
      )}
    </>
  )
}

/** Changed things with their changes, each in a part that opens. */
export const Resources = ({ resources }: { readonly resources: readonly PlannedResource[] }) => (
  <ul className={styles['resources']}>
    {resources.map(({ address, action, changes }) => (
      <li key={`${action} ${address}`}>
        <details>
          <summary data-action={action}>
            <span aria-hidden="true">{signs[action]}</span> <code>{address}</code>{' '}
            <span className={styles['quiet']}>{action}</span>
          </summary>
          {changes.length === 0 ? (
            <p className={styles['quiet']}>No attribute is listed.</p>
          ) : (
            <Changes {...{ address, changes }} />
          )}
        </details>
      </li>
    ))}
  </ul>
)

const Changes = ({ address, changes }: Pick<PlannedResource, 'address' | 'changes'>) => (
  <Table label={`Changes of ${address}`} columns={['Attribute', 'Before', 'After']}>
    {changes.map(({ name, before, after, is_sensitive: isSensitive, is_known: isKnown }) => (
      <tr key={name}>
        <td>
          <code>{name}</code>
        </td>
        <td>{isSensitive ? <Masked /> : <code>{before}</code>}</td>
        <td>{isSensitive ? <Masked /> : isKnown ? <code>{after}</code> : 'known after the apply'}</td>
      </tr>
    ))}
  </Table>
)

const Masked = () => <span className={styles['quiet']}>sensitive</span>
