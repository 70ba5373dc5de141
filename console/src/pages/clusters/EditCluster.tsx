import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { aboutClusters, type Cluster } from '../../api/reads-clusters.ts'
import { labelsGroups, tagGroups } from '../../api/tag-groups.ts'
import { useForm } from '../../api/use-form.ts'
import { clusterFields, clusterValues } from '../../forms/clusters.ts'
import { asBody, asDraft } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'

export interface ClusterDialogProps {
  readonly organizationId: string
  readonly cluster: Cluster
  readonly onClose: () => void
}

/** Changes the record of a cluster. */
export function EditCluster({ organizationId, cluster, onClose }: ClusterDialogProps) {
  const { data: groups } = useQuery(tagGroups(labelsGroups, organizationId))
  const form = useForm({
    fields: clusterFields(groups),
    initial: clusterValues(asDraft(cluster)),
    send: (draft) => api.editCluster({ organizationId, clusterId: cluster.id, body: asBody(draft) }),
    changes: [aboutClusters(organizationId)],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Edit “${cluster.name}”`}
      isOpen
      onClose={onClose}
      action="Save"
      refusal={form.isDirty ? undefined : 'nothing is changed'}
      {...form.dialog}
    >
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
