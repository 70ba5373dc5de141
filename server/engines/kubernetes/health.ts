import { EngineError, type Release } from '../engine.ts'
import { readinessProbe, verdict } from '../health.ts'
import { isAutoscaled, replicaCount } from './autoscaler.ts'
import type { DeploymentState, PodState } from './pod-state.ts'
import { finalReason } from './waiting.ts'

/** A release while it starts. Undefined: not seen yet. */
export interface StartView {
  readonly deployment: DeploymentState | undefined
  readonly pods: readonly PodState[] | undefined
  /** The exits of each running pod before the wait began. */
  readonly exitsBefore: ReadonlyMap<string, number>
  /** How many replicas must be ready. */
  readonly needed: number
}

export type StartVerdict = { readonly healthy: readonly PodState[] } | { readonly failure: EngineError }

/** Returns how the start of a release ends; undefined while it is open. Pure. */
export function judgeStart(
  { workload }: Release,
  { deployment, pods, exitsBefore, needed }: StartView,
): StartVerdict | undefined {
  if (!deployment || !pods) return undefined
  const live = pods.filter(({ isLeaving }) => !isLeaving)
  for (const pod of live) {
    // The release was written in another form before, whose pods leave.
    if (pod.image !== workload.image) continue
    const failure = failureOf(pod, exitsBefore.get(pod.name) ?? 0, workload.memoryMiB)
    if (failure) return { failure }
  }
  const ready = live.filter(({ isReady, running }) => isReady && running)
  // Without a probe, Kubernetes counts a replica as available once it has run for a while.
  const up = readinessProbe(workload) === undefined ? Math.min(deployment.available, ready.length) : ready.length
  const isWhole = isAutoscaled(workload)
    ? up >= needed || (up >= replicaCount(workload) && isFull(deployment, live))
    : live.length === needed && up === needed
  if (deployment.isSeen && isWhole) return { healthy: ready.toSorted((a, b) => a.name.localeCompare(b.name)) }
  if (deployment.refusal === undefined) return undefined
  const message = `the cluster creates no replica: ${deployment.refusal}`
  return { failure: new EngineError('refused', message) }
}

/** Whether the cluster has no room for the replicas that are not ready. */
const isFull = ({ refusal, replicas }: DeploymentState, live: readonly PodState[]): boolean =>
  (refusal !== undefined || live.length >= replicas) &&
  live.every(({ isReady, waiting }) => isReady || waiting?.reason === 'Unschedulable')

function failureOf(pod: PodState, exitsBefore: number, memoryMiB: number): EngineError | undefined {
  const final = pod.waiting && finalReason(pod.waiting, pod.image)
  if (final) return new EngineError(final.reason, final.message)
  const failed = verdict(pod, { exitsBefore, exitCode: pod.exitCode, memoryMiB })
  return failed && new EngineError(failed.reason, `replica ${pod.name} ${failed.message}`)
}
