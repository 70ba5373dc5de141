import { EngineError } from '../engine.ts'
import { type ContainerPlace, kinds } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { type PodState, toPodState } from './pod-state.ts'

/**
 * Returns a container of this replica, or of the service's newest one, if it runs: the named one,
 * or that of its program. Throws EngineError('refused').
 */
export async function runningContainer(
  { kube, instance }: KubeHost,
  service: string,
  { replica, container }: { readonly replica?: string | undefined; readonly container?: string | undefined },
  signal: AbortSignal,
): Promise<ContainerPlace> {
  const { items } = await kube.list(kinds.pod, { labels: ownLabels(instance, { [label.service]: service }) }, signal)
  const running = items
    .map(toPodState)
    .filter((pod) => !pod.isLeaving && pod.run === undefined && isRunning(pod, container))
    .filter(({ name }) => replica === undefined || name === replica)
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  const [pod] = running
  if (pod) return { namespace: pod.namespace, pod: pod.name, container: container ?? pod.container }
  const of = container === undefined ? '' : ` with the container ${container}`
  const what = `no replica${replica === undefined ? '' : ` ${replica}`} of the service${of}`
  throw new EngineError('refused', `${what} is running; start it first`)
}

const isRunning = (pod: PodState, container: string | undefined): boolean =>
  container === undefined ? pod.running : pod.containers.some((one) => one.name === container && one.running)
