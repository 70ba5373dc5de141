/** Returns the name of the engine of a cluster that is connected by its kubeconfig. */
export const engineNameOf = (clusterId: string): string => `kubernetes-${clusterId}`

/**
 * Returns the name of the engine that reaches a cluster, also before its first deployment. Null if
 * nothing does.
 */
export const reachingEngine = ({
  id,
  engine,
  sealed_kubeconfig,
}: {
  readonly id: string
  readonly engine: string | null
  readonly sealed_kubeconfig: string | null
}): string | null => engine ?? (sealed_kubeconfig === null ? null : engineNameOf(id))
