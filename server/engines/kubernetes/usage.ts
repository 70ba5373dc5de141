import type { ReplicaUsage } from '../engine.ts'
import { quantity } from './capacity.ts'
import { isKubeError, kinds } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { programOf } from './pod-state.ts'

interface Measured {
  readonly metadata: { readonly name: string }
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[]
}

/**
 * Returns what the metrics API reports of each running replica. Empty if the cluster has no such
 * API. A new replica appears after the interval at which the cluster measures, usually fifteen
 * seconds.
 */
export async function usageOf(
  { kube, instance }: KubeHost,
  service: string,
  signal: AbortSignal,
): Promise<ReplicaUsage[]> {
  const labels = ownLabels(instance, { [label.service]: service })
  const { items } = await kube.list(kinds.pod, { labels }, signal)
  const pods = items.filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.labels?.[label.run])
  const [first] = pods
  if (!first) return []
  const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${first.metadata.namespace ?? ''}/pods`
  const answer = await kube
    .raw(`${path}?labelSelector=${encodeURIComponent(`${label.service}=${service}`)}`, signal)
    .catch((error: unknown) => {
      if (isKubeError(error, 403, 404, 503)) return { items: [] }
      throw error
    })
  // The shape is that of the metrics API.
  const measured = new Map((Object(answer).items as Measured[]).map((one) => [one.metadata.name, one]))
  return pods.flatMap(({ metadata, spec }) => {
    const program = programOf(spec.containers)
    const usage = measured.get(metadata.name)?.containers.find(({ name }) => name === program.name)?.usage
    const limits = program.resources?.limits
    if (!usage) return []
    return {
      replica: metadata.name,
      cpuMilli: Math.round(quantity(usage['cpu']) * 1000),
      cpuLimitMilli: Math.round(quantity(limits?.['cpu']) * 1000),
      memoryMiB: Math.round(quantity(usage['memory']) / 1024 ** 2),
      memoryLimitMiB: Math.round(quantity(limits?.['memory']) / 1024 ** 2),
    }
  })
}
