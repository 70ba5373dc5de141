import type { Cluster, ClusterStatus } from '../../api/reads-clusters.ts'
import { wordsOf } from '../../ui/State.tsx'
import { When } from '../../ui/When.tsx'
import styles from './Clusters.module.css'
import { capacityOf } from './ClustersPage.tsx'
import { HealthWords } from './HealthWords.tsx'

interface ClusterFactsProps {
  readonly cluster: Cluster
  readonly status: ClusterStatus
}

/** The facts that the platform knows about a cluster. */
export function ClusterFacts({ cluster, status }: ClusterFactsProps) {
  const { cloud_provider: provider, region, kubernetes, cpu, memory, version } = cluster
  return (
    <dl className={styles['facts']}>
      <div>
        <dt>API server</dt>
        <dd>
          <HealthWords health={status.health} />
        </dd>
      </div>
      <div>
        <dt>Capacity</dt>
        <dd>{capacityOf(cpu, memory)}</dd>
      </div>
      <div>
        <dt>Provider</dt>
        <dd>
          {provider} · {region} · {wordsOf(kubernetes)}
        </dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>{version || '–'}</dd>
      </div>
      <div>
        <dt>Last deployment</dt>
        <dd>{status.last_deployment_date ? <When at={status.last_deployment_date} /> : 'never'}</dd>
      </div>
    </dl>
  )
}
