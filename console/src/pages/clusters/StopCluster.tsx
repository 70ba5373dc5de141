import { useQuery } from '@tanstack/react-query'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { aboutClusters, clusterEnvironments } from '../../api/reads-clusters.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import type { ClusterDialogProps } from './EditCluster.tsx'

/** Stops the services of all environments of a cluster. */
export function StopCluster({ organizationId, cluster, onClose }: ClusterDialogProps) {
  const { data = [] } = useQuery(clusterEnvironments(organizationId, cluster.id))
  const stop = useChange({
    change: () => api.StopCluster({ organizationId, clusterId: cluster.id }),
    makesOld: aboutClusters(organizationId),
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Stop “${cluster.name}”?`}
      isOpen
      onClose={onClose}
      action="Stop the cluster"
      look="danger"
      isBusy={stop.isPending}
      error={stop.error}
      onSubmit={() => stop.mutate()}
      preview={() => stop.preview()}
    >
      <p>The services of all its environments stop. Nothing is deployed there until the cluster is deployed.</p>
      <ul>
        {data.map(({ environment_id: id, environment_name: name, project_name: project, services }) => (
          <li key={id}>
            {project} / {name}, {services.length === 1 ? '1 service' : `${services.length} services`}
          </li>
        ))}
      </ul>
    </FormDialog>
  )
}
