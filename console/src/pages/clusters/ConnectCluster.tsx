import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { aboutClusters } from '../../api/reads-clusters.ts'
import { useForm } from '../../api/use-form.ts'
import { newClusterFields, newClusterValues } from '../../forms/clusters.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { KubeconfigForm } from './KubeconfigForm.tsx'

interface ConnectClusterProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Creates the record of a cluster, asks for its kubeconfig and leads to its page. */
export function ConnectCluster({ organizationId, onClose }: ConnectClusterProps) {
  const navigate = useNavigate()
  const [made, setMade] = useState<{ readonly id: string; readonly name: string }>()
  const form = useForm({
    fields: newClusterFields,
    initial: newClusterValues,
    send: (draft) => api.createCluster({ organizationId, body: asBody(draft) }),
    changes: [aboutClusters(organizationId)],
    onDone: (cluster) => {
      if (cluster.kubernetes === 'SELF_MANAGED') setMade(cluster)
      else leave(cluster.id)
    },
  })
  const leave = (clusterId: string): void => {
    onClose()
    void navigate({
      to: '/organizations/$organizationId/settings/clusters/$clusterId',
      params: { organizationId, clusterId },
    })
  }
  if (made) return <KubeconfigForm {...{ organizationId, cluster: made }} onClose={() => leave(made.id)} />
  return (
    <FormDialog title="Connect a cluster" isOpen onClose={onClose} action="Continue" {...form.dialog}>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
