import { type EngineReason, manyExits } from '../../engine.ts'
import { kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { label, ownLabels } from '../labels.ts'
import { type PodState, toPodState } from '../pod-state.ts'
import { explainWaiting, finalReason } from '../waiting.ts'

/** Why a chart does not become ready. */
export interface ChartFailure {
  readonly reason: EngineReason
  readonly message: string
  readonly pod: PodState
}

/** Lists the pods of a chart. */
export async function listChartPods(host: KubeHost, service: string, signal: AbortSignal): Promise<PodState[]> {
  const labels = ownLabels(host.instance, { [label.service]: service, [label.chart]: 'true' })
  return (await host.kube.list(kinds.pod, { labels }, signal)).items.map(toPodState)
}

/** Returns why no further wait for these pods helps, if it does not. Pure. */
export function hopelessOf(
  pods: readonly PodState[],
  exitsBefore: ReadonlyMap<string, number>,
): ChartFailure | undefined {
  for (const pod of pods) {
    if (pod.isLeaving) continue
    const final = pod.waiting && finalReason(pod.waiting, pod.image)
    if (final) return { ...final, message: `pod ${pod.name}: ${final.message}`, pod }
    if (pod.exits - (exitsBefore.get(pod.name) ?? 0) >= manyExits && !pod.running) return exitsOf(pod)
  }
  return undefined
}

/** Returns why these pods are not ready after the time is over. Undefined if all are. Pure. */
export function unreadyOf(pods: readonly PodState[]): ChartFailure | undefined {
  const hopeless = hopelessOf(pods, new Map())
  if (hopeless) return hopeless
  const late = pods.find((pod) => !pod.isLeaving && !pod.isReady && pod.exitCode !== 0)
  if (!late) return undefined
  if (late.exits > 0) return exitsOf(late)
  const why = late.waiting ? explainWaiting(late.waiting) : 'it runs and does not pass its readiness probe'
  return { reason: 'not-ready', message: `pod ${late.name} is not ready: ${why}`, pod: late }
}

function exitsOf(pod: PodState): ChartFailure {
  if (pod.outOfMemory) return { reason: 'out-of-memory', message: `pod ${pod.name} ran out of memory`, pod }
  const code = pod.exitCode === undefined ? '' : ` with code ${pod.exitCode}`
  return { reason: 'crashed', message: `pod ${pod.name} exited${code}, ${pod.exits} times`, pod }
}
