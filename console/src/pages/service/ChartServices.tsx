import { useQuery } from '@tanstack/react-query'
import { chartServices } from '../../api/reads-charts.ts'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Table } from '../../ui/Table.tsx'

interface ChartServicesProps {
  readonly environmentId: string
  readonly helmId: string
}

/** The services of Kubernetes that a running chart has. A chart without any has no such section. */
export function ChartServices({ environmentId, helmId }: ChartServicesProps) {
  const { data = [], error } = useQuery(chartServices(environmentId, helmId))
  if (data.length === 0 && !error) return null
  return (
    <Section title="Services of Kubernetes">
      <Problem error={error} />
      <Table label="Services of Kubernetes" columns={['Name', 'Type', 'Ports']}>
        {data.map(({ metadata: { name }, service_spec: { type, ports } }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>{type}</td>
            <td>{ports.map(({ name: port, port: number }) => [port, number].filter(Boolean).join(' ')).join(', ')}</td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
