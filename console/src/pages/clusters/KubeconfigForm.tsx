import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api, messageOf } from '../../api/client.ts'
import { aboutClusters } from '../../api/reads-clusters.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { TextField } from '../../ui/Field.tsx'
import { saveFile } from '../save-file.ts'
import { useMay } from '../use-may.ts'

interface KubeconfigFormProps {
  readonly organizationId: string
  readonly cluster: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

/** Stores the kubeconfig of a cluster. People who may manage clusters can download it again. */
export function KubeconfigForm({ organizationId, cluster, onClose }: KubeconfigFormProps) {
  const [text, setText] = useState('')
  const save = useChange({
    change: () => api.editClusterKubeconfig({ organizationId, clusterId: cluster.id, body: text }),
    makesOld: aboutClusters(organizationId),
    onDone: onClose,
  })
  const download = useMutation({
    mutationFn: () => api.getClusterKubeconfig({ organizationId, clusterId: cluster.id }),
    onSuccess: (stored) => saveFile(`${cluster.name}.yaml`, 'application/x-yaml', stored),
  })
  const may = useMay({ clusterId: cluster.id })
  return (
    <FormDialog
      title={`Kubeconfig of “${cluster.name}”`}
      isOpen
      onClose={onClose}
      action="Store the kubeconfig"
      isBusy={save.isPending}
      error={download.error}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      <TextField
        label="Kubeconfig"
        isLong
        isRequired
        value={text}
        onChange={setText}
        placeholder={'apiVersion: v1\nkind: Config\n…'}
        hint="YAML with a token or a client certificate inside. It is encrypted, and no page shows it."
        problem={save.error ? messageOf(save.error) : undefined}
      />
      <Button refusal={may('getClusterKubeconfig')} isBusy={download.isPending} onClick={() => download.mutate()}>
        Download the stored one
      </Button>
    </FormDialog>
  )
}
