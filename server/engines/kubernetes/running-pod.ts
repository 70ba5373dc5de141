import { EngineError } from '../engine.ts'
import { type ContainerPlace, kinds } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { toPodState } from './pod-state.ts'

/**
 * Returns the container of this replica, or of the service's newest one, if it runs. Throws
 * EngineError('refused').
 */
export async function runningContainer(
  { kube, instance }: KubeHost,
  service: string,
  replica: string | undefined,
  signal: AbortSignal,
): Promise<ContainerPlace> {
  const { items } = await kube.list(kinds.pod, { labels: ownLabels(instance, { [label.service]: service }) }, signal)
  const running = items
    .map(toPodState)
    .filter((pod) => pod.running && !pod.isLeaving && pod.run === undefined)
    .filter(({ name }) => replica === undefined || name === replica)
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  const [pod] = running
  if (pod) return { namespace: pod.namespace, pod: pod.name, container: pod.container }
  const what = replica === undefined ? 'no replica of the service' : `no replica ${replica} of the service`
  throw new EngineError('refused', `${what} is running; start it first`)
}
