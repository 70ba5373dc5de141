import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { clusterEnvironments } from '../../api/reads-clusters.ts'
import { Empty } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'

interface ClusterEnvironmentsProps {
  readonly organizationId: string
  readonly clusterId: string
}

/** The environments that run on a cluster. */
export function ClusterEnvironments({ organizationId, clusterId }: ClusterEnvironmentsProps) {
  const { data } = useSuspenseQuery(clusterEnvironments(organizationId, clusterId))
  if (data.length === 0) return <Empty>No environment runs here. New environments choose their cluster.</Empty>
  return (
    <Table label="Environments of the cluster" columns={['Project', 'Environment', 'Services']}>
      {data.map(({ environment_id: environmentId, environment_name: name, project_name: project, services }) => (
        <tr key={environmentId}>
          <td>{project}</td>
          <td>
            <Link
              to="/organizations/$organizationId/environments/$environmentId"
              params={{ organizationId, environmentId }}
            >
              {name}
            </Link>
          </td>
          <td>{services.length === 0 ? 'none' : services.map((service) => service.name).join(', ')}</td>
        </tr>
      ))}
    </Table>
  )
}
