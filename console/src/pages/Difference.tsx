import { useQuery } from '@tanstack/react-query'
import { type Comparison, comparison } from '../api/reads-deployments.ts'
import { Problem } from '../ui/Problem.tsx'
import { Table } from '../ui/Table.tsx'
import styles from './Difference.module.css'

interface DifferenceProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly from: string
  readonly to: string
}

/** How the versions of two executions differ. */
export function Difference({ environmentId, serviceId, from, to }: DifferenceProps) {
  const { data, error } = useQuery(comparison(environmentId, serviceId, from, to))
  if (error) return <Problem error={error} />
  if (!data) return <p role="status">Comparing the versions …</p>
  const rows = rowsOf(data)
  return (
    <>
      {rows.length === 0 ? (
        <p role="status">The versions are equal.</p>
      ) : (
        <Table label="Difference" columns={['Difference', 'From', 'To']}>
          {rows.map(({ name, before, after }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className={styles['value']}>{before}</td>
              <td className={styles['value']}>{after}</td>
            </tr>
          ))}
        </Table>
      )}
      {data.changed_variables === null && (
        <p className={styles['remark']}>
          Variables cannot be compared: the platform no longer keeps one of the versions. Only its settings are left.
        </p>
      )}
    </>
  )
}

interface DifferenceRow {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** Pure: a row for each thing that differs. Variables have names only. */
export function rowsOf({ from, to, changed_settings, changed_variables }: Comparison): readonly DifferenceRow[] {
  const commitOf = ({ commit }: Comparison['from']): string =>
    commit ? `${commit.git_commit_id.slice(0, 12)} ${commit.message.split('\n')[0]} (${commit.author_name})` : 'none'
  const imageOf = ({ image }: Comparison['from']): string => image ?? 'no longer kept'
  return [
    { name: 'Commit', before: commitOf(from), after: commitOf(to) },
    { name: 'Image', before: imageOf(from), after: imageOf(to) },
    ...changed_settings.map(({ name, from: before, to: after }) => ({
      name,
      before: before ?? (after === null ? '' : 'not set'),
      after: after ?? (before === null ? 'differs' : 'not set'),
      differs: true,
    })),
    ...(changed_variables ?? []).map((name) => ({
      name: `Variable ${name}`,
      before: '',
      after: 'differs',
      differs: true,
    })),
  ].filter((row) => 'differs' in row || row.before !== row.after)
}
