import type { Replica } from '../engine.ts'
import type { ContainerState, ContainerStatus, Deployment, Pod } from './client/index.ts'
import { annotation, label } from './labels.ts'
import { mainContainer } from './program.ts'

/** A pod of ours, reduced to what the platform needs. */
export interface PodState {
  readonly name: string
  readonly namespace: string
  readonly service: string
  readonly release: string
  /** The run, if it is a pod of a task. */
  readonly run: string | undefined
  readonly node: string | undefined
  /** RFC 3339 in whole seconds. */
  readonly createdAt: string
  /** Kubernetes is ending it. */
  readonly isLeaving: boolean
  /** Its program runs and it has an address. */
  readonly running: boolean
  /** It passes its readiness probe. */
  readonly isReady: boolean
  readonly address: string | undefined
  readonly exits: number
  readonly exitCode: number | undefined
  readonly outOfMemory: boolean
  readonly startedAt: string | undefined
  readonly finishedAt: string | undefined
  readonly image: string
  readonly ports: readonly number[]
  /** Kubernetes' word and sentence for what it waits for: an image, a node, a volume. */
  readonly waiting: Waiting | undefined
}

export interface Waiting {
  readonly reason: string
  readonly message: string
}

/** Reads a pod. Pure. */
export function toPodState({ metadata, spec, status }: Pod): PodState {
  const container = status?.containerStatuses?.find(({ name }) => name === mainContainer)
  const [state, last] = [container?.state, container?.lastState]
  const ended = state?.terminated ?? last?.terminated
  const isRunning = state?.running !== undefined && status?.podIP !== undefined && status.reason !== 'NodeLost'
  const { labels = {}, annotations = {} } = metadata
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    service: labels[label.service] ?? '',
    release: labels[label.release] ?? '',
    run: labels[label.run],
    node: spec.nodeName,
    createdAt: metadata.creationTimestamp ?? '',
    isLeaving: metadata.deletionTimestamp !== undefined,
    running: isRunning,
    isReady: isTrue(status?.conditions, 'Ready'),
    address: status?.podIP,
    exits: exitsOf(container),
    exitCode: isRunning ? undefined : ended?.exitCode,
    outOfMemory: ended?.reason === 'OOMKilled',
    startedAt: state?.running?.startedAt ?? ended?.startedAt,
    finishedAt: ended?.finishedAt,
    image: spec.containers.find(({ name }) => name === mainContainer)?.image ?? '',
    ports: (annotations[annotation.ports] ?? '').split(',').filter(Boolean).map(Number),
    waiting: isRunning ? undefined : waitingOf(status, state),
  }
}

/** A restart is counted when it begins, an end when it happens. */
function exitsOf(container: ContainerStatus | undefined): number {
  if (!container) return 0
  const { state, lastState, restartCount } = container
  const hasEnded =
    state?.terminated !== undefined || (state?.waiting !== undefined && lastState?.terminated !== undefined)
  return restartCount + (hasEnded ? 1 : 0)
}

function waitingOf(status: Pod['status'], state: ContainerState | undefined): Waiting | undefined {
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
  if (unscheduled) return { reason: unscheduled.reason ?? 'Unschedulable', message: unscheduled.message ?? '' }
  const { terminated, waiting } = state ?? {}
  // A program that could not be started at all.
  if (terminated?.message && terminated.reason !== 'Error' && terminated.reason !== 'Completed') {
    return { reason: terminated.reason ?? 'Terminated', message: terminated.message }
  }
  if (waiting) return { reason: waiting.reason ?? 'Waiting', message: waiting.message ?? '' }
  return status?.reason ? { reason: status.reason, message: status.message ?? '' } : undefined
}

const isTrue = (conditions: NonNullable<Pod['status']>['conditions'], type: string): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false

/** Returns a pod as a replica. */
export const toReplica = (pod: PodState): Replica => ({
  name: pod.name,
  release: pod.release,
  running: pod.running,
  image: pod.image,
  ...(pod.startedAt && { startedAt: new Date(pod.startedAt) }),
  ...(pod.finishedAt && { finishedAt: new Date(pod.finishedAt) }),
  exits: pod.exits,
  ...(pod.exitCode !== undefined && { exitCode: pod.exitCode }),
  outOfMemory: pod.outOfMemory,
  endpoints: endpointsOf(pod),
})

export const endpointsOf = ({ name, address, running, ports }: PodState) =>
  running && address !== undefined ? ports.map((port) => ({ replica: name, port, address })) : []

/** The Deployment of a release, reduced to what the platform needs. */
export interface DeploymentState {
  readonly name: string
  readonly namespace: string
  readonly service: string
  readonly release: string
  readonly createdAt: string
  readonly replicas: number
  readonly available: number
  /** Whether the controller has seen its newest form. */
  readonly isSeen: boolean
  /** Why no pod can be created: a quota, or an admission that refuses. */
  readonly refusal: string | undefined
  /** Its replicas are away while its volumes are copied. */
  readonly isHeld: boolean
}

export function toDeploymentState({ metadata, spec, status }: Deployment): DeploymentState {
  const failure = status?.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True')
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    service: metadata.labels?.[label.service] ?? '',
    release: metadata.labels?.[label.release] ?? '',
    createdAt: metadata.creationTimestamp ?? '',
    replicas: spec.replicas ?? 1,
    available: status?.availableReplicas ?? 0,
    isSeen: (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    refusal: failure && (failure.message ?? failure.reason ?? 'no reason'),
    isHeld: metadata.labels?.[label.held] !== undefined,
  }
}
