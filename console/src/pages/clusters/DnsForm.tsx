import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { aboutClusters, clusterDns } from '../../api/reads-clusters.ts'
import { useForm } from '../../api/use-form.ts'
import { dnsBody, dnsFields } from '../../forms/dns.ts'
import { asBody, asDraft, type Draft } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import type { ClusterDialogProps } from './EditCluster.tsx'

/** Changes the domain of a cluster's services and its DNS provider. */
export function DnsForm(props: ClusterDialogProps) {
  const { data, error } = useQuery(clusterDns(props.organizationId, props.cluster.id))
  if (data) return <Form {...props} stored={{ dns_provider: asDraft(data) }} />
  return (
    <PlainDialog title={`DNS of “${props.cluster.name}”`} onClose={props.onClose}>
      {error ? <Problem error={error} /> : <p>Reading …</p>}
    </PlainDialog>
  )
}

function Form({ organizationId, cluster, onClose, stored }: ClusterDialogProps & { readonly stored: Draft }) {
  const form = useForm({
    fields: dnsFields,
    initial: stored,
    send: (draft) => api.editClusterDnsProvider({ clusterId: cluster.id, body: asBody(dnsBody(draft)) }),
    changes: [aboutClusters(organizationId)],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`DNS of “${cluster.name}”`}
      isOpen
      onClose={onClose}
      action="Save"
      refusal={form.isDirty ? undefined : 'nothing is changed'}
      {...form.dialog}
    >
      <FormFields {...form.inputs} />
      <p>Services have the new names after their next deployment.</p>
    </FormDialog>
  )
}
