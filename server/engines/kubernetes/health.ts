import { EngineError, type Release } from '../engine.ts'
import { readinessProbe, verdict } from '../health.ts'
import { replicaCount } from './manifests.ts'
import type { DeploymentState, PodState } from './pod-state.ts'
import { finalReason } from './waiting.ts'

/** A release while it starts. Undefined: not seen yet. */
export interface StartView {
  readonly deployment: DeploymentState | undefined
  readonly pods: readonly PodState[] | undefined
  /** The exits of each running pod before the wait began. */
  readonly exitsBefore: ReadonlyMap<string, number>
}

export type StartVerdict = { readonly healthy: readonly PodState[] } | { readonly failure: EngineError }

/** Returns how the start of a release ends; undefined while it is open. Pure. */
export function judgeStart(
  { workload }: Release,
  { deployment, pods, exitsBefore }: StartView,
): StartVerdict | undefined {
  if (!deployment || !pods) return undefined
  if (deployment.refusal !== undefined) {
    const message = `the cluster creates no replica: ${deployment.refusal}`
    return { failure: new EngineError('refused', message) }
  }
  const live = pods.filter(({ isLeaving }) => !isLeaving)
  for (const pod of live) {
    // The release was written in another form before, whose pods leave.
    if (pod.image !== workload.image) continue
    const failure = failureOf(pod, exitsBefore.get(pod.name) ?? 0, workload.memoryMiB)
    if (failure) return { failure }
  }
  const wanted = replicaCount(workload)
  const isWhole =
    deployment.isSeen && live.length === wanted && live.every(({ isReady, running }) => isReady && running)
  // Without a probe, Kubernetes counts a replica as available once it has run for a while.
  const isSettled = readinessProbe(workload) !== undefined || deployment.available >= wanted
  if (!isWhole || !isSettled) return undefined
  return { healthy: live.toSorted((a, b) => a.name.localeCompare(b.name)) }
}

function failureOf(pod: PodState, exitsBefore: number, memoryMiB: number): EngineError | undefined {
  const final = pod.waiting && finalReason(pod.waiting, pod.image)
  if (final) return new EngineError(final.reason, final.message)
  const failed = verdict(pod, { exitsBefore, exitCode: pod.exitCode, memoryMiB })
  return failed && new EngineError(failed.reason, `replica ${pod.name} ${failed.message}`)
}
