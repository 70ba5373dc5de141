import { useQuery } from '@tanstack/react-query'
import { type StackPlace, stackOutputs } from '../../api/reads-stacks.ts'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Table } from '../../ui/Table.tsx'
import styles from './Stacks.module.css'

/** The outputs of a stack. Services of its environment read them as variables. */
export function StackOutputs({ place }: { readonly place: StackPlace }) {
  const { data, error } = useQuery(stackOutputs(place))
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  if (data.length === 0) return <Empty>The root module has no outputs, or was not applied yet.</Empty>
  return (
    <Table label="Outputs" columns={['Output', 'Value']}>
      {data.map(({ name, value, isSecret }) => (
        <tr key={name}>
          <td>
            <code>{name}</code>
          </td>
          <td className={styles['values']}>
            {isSecret ? <span className={styles['quiet']}>secret</span> : <code>{value}</code>}
          </td>
        </tr>
      ))}
    </Table>
  )
}
