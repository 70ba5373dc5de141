import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { aboutClusters, type Cluster, type ClusterStatus, clusterRefusal } from '../../api/reads-clusters.ts'
import { Button, buttonClass } from '../../ui/Button.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { useMay } from '../use-may.ts'
import { DeleteCluster } from './DeleteCluster.tsx'
import { DnsForm } from './DnsForm.tsx'
import { EditCluster } from './EditCluster.tsx'
import { KubeconfigForm } from './KubeconfigForm.tsx'
import { LockForm } from './LockForm.tsx'
import { StopCluster } from './StopCluster.tsx'

interface ClusterActionsProps {
  readonly organizationId: string
  readonly cluster: Cluster
  readonly status: ClusterStatus
}
type Dialog = 'edit' | 'kubeconfig' | 'dns' | 'lock' | 'stop' | 'delete'

/** The actions of a cluster. The ones that its state forbids say why. */
export function ClusterActions({ organizationId, cluster, status }: ClusterActionsProps) {
  const [dialog, setDialog] = useState<Dialog>()
  const place = { organizationId, clusterId: cluster.id }
  const makesOld = aboutClusters(organizationId)
  const check = useChange({ change: () => api.deployCluster({ ...place, query: { dry_run: true } }), makesOld })
  const deploy = useChange({ change: () => api.deployCluster({ ...place, query: {} }), makesOld })
  const unlock = useChange({ change: () => api['unlock-cluster']({ clusterId: cluster.id }), makesOld })
  const error = check.error ?? deploy.error ?? unlock.error
  const may = useMay({ clusterId: cluster.id })
  const refusal = clusterRefusal(status)
  const locked = status.cluster_lock ? refusal : undefined
  const dismiss = (): void => [check, deploy, unlock].forEach((one) => void one.reset())
  const close = (): void => setDialog(undefined)
  return (
    <>
      <Button onClick={() => setDialog('delete')} refusal={may('deleteCluster') ?? refusal} look="danger">
        Delete …
      </Button>
      <Button onClick={() => setDialog('edit')} refusal={may('editCluster') ?? locked}>
        Edit
      </Button>
      <Link
        className={buttonClass}
        to="/organizations/$organizationId/settings/clusters/$clusterId/advanced"
        params={place}
      >
        Advanced
      </Link>
      <Button onClick={() => setDialog('kubeconfig')} refusal={may('editClusterKubeconfig') ?? locked}>
        Kubeconfig
      </Button>
      <Button onClick={() => setDialog('dns')} refusal={may('editClusterDnsProvider') ?? locked}>
        DNS
      </Button>
      {status.cluster_lock ? (
        <Button onClick={() => unlock.mutate()} isBusy={unlock.isPending} refusal={may('unlock-cluster')}>
          Unlock
        </Button>
      ) : (
        <Button onClick={() => setDialog('lock')} refusal={may('lockCluster')}>
          Lock …
        </Button>
      )}
      <Button onClick={() => setDialog('stop')} refusal={may('StopCluster') ?? refusal}>
        Stop …
      </Button>
      <Button onClick={() => check.mutate()} isBusy={check.isPending} refusal={may('deployCluster') ?? refusal}>
        Check
      </Button>
      <Button
        look="main"
        onClick={() => deploy.mutate()}
        isBusy={deploy.isPending}
        refusal={may('deployCluster') ?? refusal}
      >
        Deploy
      </Button>
      {error && (
        <PlainDialog title="The cluster refused" onClose={dismiss}>
          <Problem error={error} />
        </PlainDialog>
      )}
      {dialog === 'edit' && <EditCluster {...{ organizationId, cluster }} onClose={close} />}
      {dialog === 'kubeconfig' && <KubeconfigForm {...{ organizationId, cluster }} onClose={close} />}
      {dialog === 'dns' && <DnsForm {...{ organizationId, cluster }} onClose={close} />}
      {dialog === 'lock' && <LockForm {...{ organizationId, cluster }} onClose={close} />}
      {dialog === 'stop' && <StopCluster {...{ organizationId, cluster }} onClose={close} />}
      {dialog === 'delete' && <DeleteCluster {...{ organizationId, cluster }} onClose={close} />}
    </>
  )
}
