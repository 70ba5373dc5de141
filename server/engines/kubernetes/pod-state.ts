import type { ChartPod, Replica } from '../engine.ts'
import {
  type Container,
  type ContainerState,
  type ContainerStatus,
  type Deployment,
  type Pod,
  plain,
} from './client/index.ts'
import { type ObjectState, toObjectState } from './drift.ts'
import { annotation, label } from './labels.ts'
import { isHome } from './names.ts'
import { podAddress } from './pod-address.ts'
import { mainContainer } from './program.ts'

/** A pod of ours, reduced to what the platform needs. */
export interface PodState {
  readonly name: string
  readonly namespace: string
  /** The container that runs its program: of a pod of a chart, the first. */
  readonly container: string
  /** The containers whose lines are read: of a pod of a chart, all of them. */
  readonly containers: readonly ContainerRun[]
  readonly service: string
  readonly release: string
  /** Whether it is a pod of a Helm chart. */
  readonly isOfChart: boolean
  /** The facts that ports of its chart need. Absent outside of its environment. */
  readonly chart?: ChartPod | undefined
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

/** A container of a pod, with what decides whether it has further lines. */
export interface ContainerRun {
  readonly name: string
  readonly running: boolean
  readonly exits: number
}

export interface Waiting {
  readonly reason: string
  readonly message: string
}

/** Reads a pod. Pure. */
export function toPodState(pod: Pod): PodState {
  const { metadata, spec, status } = pod
  const { name: main, image = '' } = programOf(spec.containers)
  const container = status?.containerStatuses?.find(({ name }) => name === main)
  const [state, last] = [container?.state, container?.lastState]
  const ended = state?.terminated ?? last?.terminated
  const address = podAddress(status?.podIP)
  const isLost = isNodeLost(status, container)
  const isRunning = state?.running !== undefined && address !== undefined && !isLost
  const { labels = {}, annotations = {} } = metadata
  const isOfChart = labels[label.chart] !== undefined
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    container: main,
    containers: isOfChart ? runsOf(pod) : [{ name: main, running: isRunning, exits: exitsOf(container) }],
    service: labels[label.service] ?? '',
    release: labels[label.release] ?? '',
    isOfChart,
    ...(isRouted(pod) && { chart: chartPodOf(pod) }),
    run: labels[label.run],
    node: spec.nodeName,
    createdAt: metadata.creationTimestamp ?? '',
    isLeaving: metadata.deletionTimestamp !== undefined,
    running: isRunning,
    isReady: isTrue(status?.conditions, 'Ready'),
    address,
    exits: exitsOf(container),
    exitCode: isRunning ? undefined : ended?.exitCode,
    outOfMemory: ended?.reason === 'OOMKilled',
    startedAt: state?.running?.startedAt ?? ended?.startedAt,
    finishedAt: ended?.finishedAt,
    image: plain(image),
    ports: portsOf(annotations[annotation.ports]),
    waiting: isRunning ? undefined : isLost ? lost(spec.nodeName) : waitingOf(status, state),
  }
}

/** Returns the containers of a pod in the order in which they start. */
function runsOf({ spec, status }: Pod): readonly ContainerRun[] {
  const states = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return [...(spec.initContainers ?? []), ...spec.containers].map(({ name }) => {
    const found = states.find((one) => one.name === name)
    return { name, running: found?.state?.running !== undefined, exits: exitsOf(found) }
  })
}

/** Whether ports of a chart may lead to a pod. One that may leave its namespace has others too. */
const isRouted = ({ metadata: { labels = {}, namespace } }: Pod): boolean =>
  labels[label.chart] !== undefined && isHome(namespace, labels[label.environment])

function chartPodOf({ metadata, spec, status }: Pod): ChartPod {
  const named = spec.containers.flatMap(({ ports = [] }) => ports).filter(({ name }) => name !== undefined)
  return {
    labels: metadata.labels ?? {},
    ports: Object.fromEntries(named.map(({ name = '', containerPort }) => [name, containerPort])),
    address:
      isTrue(status?.conditions, 'Ready') && metadata.deletionTimestamp === undefined
        ? podAddress(status?.podIP)
        : undefined,
  }
}

/** Returns the container that runs the program. Pods of charts have containers of any names. */
export const programOf = (containers: Pod['spec']['containers']): Container =>
  containers.find(({ name }) => name === mainContainer) ?? containers[0] ?? { name: mainContainer }

/** The ports that the platform wrote there. */
const portsOf = (text = ''): readonly number[] =>
  text
    .slice(0, 1_000)
    .split(',')
    .map(Number)
    .filter((port) => Number.isInteger(port) && port > 0 && port < 65_536)

/**
 * Whether the node of a pod no longer answers. Then the cluster takes back that the pod is ready,
 * and keeps what the node said last about its containers.
 */
function isNodeLost(status: Pod['status'], container: ContainerStatus | undefined): boolean {
  if (status?.reason === 'NodeLost') return true
  const isTakenBack = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is !== 'True') ?? false
  return isTakenBack && container?.ready === true && isTrue(status?.conditions, 'ContainersReady')
}

const lost = (node: string | undefined): Waiting => ({
  reason: 'NodeLost',
  message: `its node ${plain(node ?? 'of an unknown name')} does not answer the cluster`,
})

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
  if (unscheduled) return waitingFor(unscheduled, 'Unschedulable')
  const { terminated, waiting } = state ?? {}
  // A program that could not be started at all.
  if (terminated?.message && terminated.reason !== 'Error' && terminated.reason !== 'Completed') {
    return waitingFor(terminated, 'Terminated')
  }
  if (waiting) return waitingFor(waiting, 'Waiting')
  return status?.reason ? waitingFor(status, status.reason) : undefined
}

const waitingFor = (
  { reason, message = '' }: { readonly reason?: string | undefined; readonly message?: string | undefined },
  otherwise: string,
): Waiting => ({ reason: plain(reason ?? otherwise), message: plain(message) })

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
  ...(pod.chart && { pod: pod.chart }),
})

/** A replica has endpoints while it passes its readiness probe. */
export const endpointsOf = ({ name, address, running, isReady, ports }: PodState) =>
  running && isReady && address !== undefined ? ports.map((port) => ({ replica: name, port, address })) : []

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
  /** Whether somebody changed it, and the other objects of the release. */
  readonly own: ObjectState
}

/** Copies of a service share the ids of its releases. */
export const keyOfRelease = ({ service, release }: Pick<PodState, 'service' | 'release'>): string =>
  `${service} ${release}`

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
    refusal: failure && plain(failure.message ?? failure.reason ?? 'no reason'),
    isHeld: metadata.labels?.[label.held] !== undefined,
    own: toObjectState({ metadata }),
  }
}
