import type { ClusterStatus } from '../../api/reads-clusters.ts'
import { Reason } from '../../ui/Reason.tsx'
import { State } from '../../ui/State.tsx'
import { When } from '../../ui/When.tsx'
import styles from './Clusters.module.css'

/** Whether the API server of a cluster answers, with its reason and its version. */
export function HealthWords({ health }: { readonly health: ClusterStatus['health'] }) {
  if (!health) return <span className={styles['quiet']}>not asked</span>
  const { state, since, reason, kubernetes_version: version, node_count: nodes } = health
  const facts = [version && `Kubernetes ${version}`, nodes !== null && (nodes === 1 ? '1 node' : `${nodes} nodes`)]
  return (
    <>
      <State state={state} /> <span className={styles['quiet']}>since</span> <When at={since} />
      <div className={styles['quiet']}>{facts.filter(Boolean).join(', ')}</div>
      <Reason text={reason} />
    </>
  )
}
