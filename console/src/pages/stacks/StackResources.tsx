import { useQuery } from '@tanstack/react-query'
import { type StackPlace, stackResources } from '../../api/reads-stacks.ts'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Table } from '../../ui/Table.tsx'
import styles from './Stacks.module.css'

/** The resources of the last apply, with their attributes. Sensitive ones are not among them. */
export function StackResources({ place }: { readonly place: StackPlace }) {
  const { data, error } = useQuery(stackResources(place))
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  if (data.length === 0) return <Empty>There are none. An apply makes them.</Empty>
  return (
    <ul className={styles['resources']}>
      {data.map(({ id, address, mode, provider, attributes }) => (
        <li key={id}>
          <details>
            <summary>
              <code>{address}</code> <span className={styles['quiet']}>{mode}</span>
            </summary>
            <p className={styles['quiet']}>{provider}</p>
            <Table label={`Attributes of ${address}`} columns={['Attribute', 'Value']}>
              {Object.entries(attributes).map(([name, value]) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td>
                    <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                  </td>
                </tr>
              ))}
            </Table>
          </details>
        </li>
      ))}
    </ul>
  )
}
