import { api } from '../../api/client.ts'
import { aboutClusters } from '../../api/reads-clusters.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import type { FieldSpec } from '../../forms/fields.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import type { ClusterDialogProps } from './EditCluster.tsx'

const fields: readonly FieldSpec[] = [
  { path: 'reason', label: 'Reason', type: 'text', isRequired: true, hint: 'Everybody who is refused reads it.' },
  { path: 'ttl_in_days', label: 'Days', type: 'number', hint: 'Empty: until somebody unlocks it.' },
]

/** Locks a cluster against deployments, upgrades, edits and deletion. */
export function LockForm({ organizationId, cluster, onClose }: ClusterDialogProps) {
  const form = useForm({
    fields,
    initial: { reason: '', ttl_in_days: '' },
    send: ({ reason, ttl_in_days: days }) =>
      api.lockCluster({ clusterId: cluster.id, body: asBody({ reason, ttl_in_days: days === '' ? null : days }) }),
    changes: [aboutClusters(organizationId)],
    onDone: onClose,
  })
  return (
    <FormDialog title={`Lock “${cluster.name}”`} isOpen onClose={onClose} action="Lock" {...form.dialog}>
      <p>It cannot be deployed, upgraded, edited or deleted while it is locked.</p>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
