import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api, messageOf } from '../../api/client.ts'
import { aboutClusters } from '../../api/reads-clusters.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { TextField } from '../../ui/Field.tsx'

interface KubeconfigFormProps {
  readonly organizationId: string
  readonly cluster: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** Stores the kubeconfig of a cluster. It is never shown again. */
export function KubeconfigForm({ organizationId, cluster, onClose }: KubeconfigFormProps) {
  const [text, setText] = useState('')
  const save = useChange({
    change: () => api.editClusterKubeconfig({ organizationId, clusterId: cluster.id, body: text }),
    makesOld: aboutClusters(organizationId),
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Kubeconfig of “${cluster.name}”`}
      isOpen
      onClose={onClose}
      action="Store the kubeconfig"
      isBusy={save.isPending}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label="Kubeconfig"
        isLong
        isRequired
        value={text}
        onChange={setText}
        placeholder={'apiVersion: v1\nkind: Config\n…'}
        hint="YAML with a token or a client certificate inside. It is encrypted, and no page shows it again."
        problem={save.error ? messageOf(save.error) : undefined}
      />
    </FormDialog>
  )
}
