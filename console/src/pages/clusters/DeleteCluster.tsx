import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { clusterLosses, type DeleteMode } from '../../api/cluster-losses.ts'
import { aboutClusters, clusterEnvironments } from '../../api/reads-clusters.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'
import { CheckField, SelectField } from '../../ui/Field.tsx'
import type { ClusterDialogProps } from './EditCluster.tsx'

const modes = [
  { value: 'DEFAULT', label: 'the cluster, if it has no environments' },
  { value: 'DELETE_CLUSTER_AND_QOVERY_CONFIG', label: 'the cluster and its environments with their data' },
  { value: 'DELETE_QOVERY_CONFIG', label: 'only the records; everything on the cluster stays' },
] as const satisfies readonly { value: DeleteMode; label: string }[]

/** Deletes a cluster, and says what is lost with it. */
export function DeleteCluster({ organizationId, cluster, onClose }: ClusterDialogProps) {
  const [deleteMode, setMode] = useState<DeleteMode>('DEFAULT')
  const [skipReconcile, setSkip] = useState(false)
  const { data = [] } = useQuery(clusterEnvironments(organizationId, cluster.id))
  const navigate = useNavigate()
  const remove = useChange({
    change: async () => {
      await api.deleteCluster({ organizationId, clusterId: cluster.id, query: { deleteMode, skipReconcile } })
      await navigate({ to: '/organizations/$organizationId/settings/clusters', params: { organizationId } })
    },
    makesOld: aboutClusters(organizationId),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      noun="cluster"
      name={cluster.name}
      losses={clusterLosses(cluster.name, data, deleteMode, skipReconcile)}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      preview={() => remove.preview()}
      onClose={onClose}
    >
      <SelectField
        label="It deletes"
        value={deleteMode}
        options={modes}
        onChange={(next) => setMode(modes.find(({ value }) => value === next)?.value ?? 'DEFAULT')}
      />
      <CheckField label="Touch nothing on the cluster" isChecked={skipReconcile} onChange={setSkip} />
    </ConfirmDialog>
  )
}
