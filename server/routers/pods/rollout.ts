import type { KubeObject } from '../ingress/kube-objects.ts'
import { type PodKube, podKinds } from './pod-kube.ts'
import { type RouterObjectSetting, routerName } from './router-objects.ts'

/** The members of a Deployment that the router reads. */
interface DeploymentObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly generation?: number }
  readonly spec?: { readonly replicas?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
  }
}

export interface RolloutState {
  /** Whether its controller has seen it. */
  readonly isCreated: boolean
  /** Whether all routers have the current settings and get requests, and no other is left. */
  readonly isDone: boolean
  /** For people. */
  readonly text: string
}

/** Returns how far the rollout of a cluster's routers is. */
export async function rolledOut(
  kube: PodKube,
  { namespace }: Pick<RouterObjectSetting, 'namespace'>,
  signal: AbortSignal,
): Promise<RolloutState> {
  // The object of this path is a Deployment.
  const found = (await kube.get(podKinds.deployment, { namespace, name: routerName }, signal)) as
    | DeploymentObject
    | undefined
  const { replicas: all = 0, updatedReplicas = 0, availableReplicas = 0, observedGeneration } = found?.status ?? {}
  const wanted = found?.spec?.replicas ?? 0
  const isCreated = found !== undefined && observedGeneration === found.metadata.generation
  const isDone = isCreated && updatedReplicas === wanted && availableReplicas === wanted && all === wanted
  return { isCreated, isDone, text: `${Math.min(updatedReplicas, availableReplicas)} of ${wanted} get requests` }
}
