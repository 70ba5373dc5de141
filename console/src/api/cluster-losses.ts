import type { ClusterEnvironment } from './reads-clusters.ts'

export type DeleteMode = 'DEFAULT' | 'DELETE_CLUSTER_AND_QOVERY_CONFIG' | 'DELETE_QOVERY_CONFIG'

/** Pure: the things that are lost with a cluster. */
export function clusterLosses(
  name: string,
  environments: readonly ClusterEnvironment[],
  mode: DeleteMode,
  skipsCluster: boolean,
): readonly string[] {
  const stays = skipsCluster || mode === 'DELETE_QOVERY_CONFIG'
  const own = [
    `the record of the cluster ${name}, with its kubeconfig`,
    ...(stays ? [] : ['the objects of the platform on it']),
  ]
  if (mode === 'DEFAULT') return own
  const what = stays ? 'the record of the environment' : 'with its data, the environment'
  return [...own, ...environments.map((one) => `${what} ${one.environment_name} of ${one.project_name}`)]
}
