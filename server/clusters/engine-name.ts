import type { KubernetesMode } from '@quayside/contract/resources/cluster.ts'

const prefix = 'kubernetes-'

/** Returns the name of the engine of a cluster that is connected by its kubeconfig. */
export const engineNameOf = (clusterId: string): string => `${prefix}${clusterId}`

/** Returns the cluster of such an engine. Undefined for the engine of this machine. */
export const clusterOfEngine = (engine: string): string | undefined =>
  engine.startsWith(prefix) ? engine.slice(prefix.length) : undefined

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

/** Whether the cluster is the machine that the platform runs on. */
export const isBuiltIn = ({ id, engine }: { readonly id: string; readonly engine: string | null }): boolean =>
  engine !== null && engine !== engineNameOf(id)
