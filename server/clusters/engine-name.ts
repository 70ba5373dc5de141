import type { KubernetesMode } from '@quayside/contract/resources/cluster.ts'

/** Returns the name of the engine of a cluster that is connected by its kubeconfig. */
export const engineNameOf = (clusterId: string): string => `kubernetes-${clusterId}`

/**
 * Returns the name of the engine that reaches a cluster, also before its first deployment. Null if
 * nothing does. Only a cluster that its owner manages is reached by its kubeconfig.
 */
export const reachingEngine = ({
  id,
  engine,
  kubernetes,
  sealed_kubeconfig,
}: {
  readonly id: string
  readonly kubernetes: KubernetesMode
  readonly engine: string | null
  readonly sealed_kubeconfig: string | null
}): string | null => engine ?? (kubernetes === 'SELF_MANAGED' && sealed_kubeconfig !== null ? engineNameOf(id) : null)
