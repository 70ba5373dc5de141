import { EngineError, type LongRunning, type Port, type Release } from '../engine.ts'
import { readinessProbe, settleMs } from '../health.ts'
import { autoscalers, isAutoscaled, replicaCount } from './autoscaler.ts'
import { podLabels } from './charts/chart-names.ts'
import type { KubeObject } from './client/index.ts'
import { listedObjects } from './drift.ts'
import { eventScalers } from './event-scaler.ts'
import { annotation, label, ownLabels } from './labels.ts'
import { namespaceOf, releaseName, volumeName } from './names.ts'
import { contentsOf, contentsSecret, kubeProbe, podSettings, programContainer } from './program.ts'
import { annotated, usersAnnotations } from './users-annotations.ts'
import { usersLabels } from './users-labels.ts'

/** The values on which the objects of a release depend, in addition to the release. */
export interface Setting {
  readonly instance: string
  /** The Secret with the credentials of the registry, in the same namespace. */
  readonly pullSecret?: string | undefined
  /** How long a replica with ports waits before its program is asked to stop. */
  readonly leaveSeconds?: number | undefined
}

/**
 * After a replica leaves, requests reach it for about a second: every node learns of its end on its
 * own. Its program is asked to stop after this time.
 */
export const leaveSeconds = 2
/**
 * The same if an ingress controller carries the traffic. It collects changes for some seconds, and
 * nobody asks it before a cluster removes replicas by itself.
 */
export const controllerLeaveSeconds = 5

/**
 * Returns the objects of a release of a service, without its volumes. Pure. Throws
 * EngineError('refused') for what a cluster cannot do.
 */
export function releaseObjects(release: Release, setting: Setting): KubeObject[] {
  const { workload, displayName } = release
  if (workload.publishedPorts?.length) {
    const advice = 'make it private, or run it on the machine of the platform'
    throw new EngineError('refused', `a cluster of Kubernetes publishes no port of "${displayName}"; ${advice}`)
  }
  const name = releaseName(release)
  const contents = contentsOf(workload, name)
  const metadata = { name, namespace: namespaceOf(release.environment), labels: labelsOf(release, setting.instance) }
  const before = [
    contentsSecret(annotated(metadata, usersAnnotations(release, 'SECRETS')), contents),
    ...workload.aliases.map((alias) => aliasService(release, alias, setting.instance)),
  ]
  const scaled = annotated(metadata, usersAnnotations(release, 'HPA'))
  const after = [
    ...(workload.replicas.max > 1 ? [disruptionBudget(release, metadata)] : []),
    ...autoscalers(release, scaled),
    ...eventScalers(release, scaled),
  ]
  const objects = listedObjects([...before, ...after])
  return [...before, deployment(release, setting, { contents, objects }), ...after]
}

/** Returns the labels by which the objects of a release are found. */
export const labelsOf = (
  { id, service, environment }: Pick<Release, 'id' | 'service' | 'environment'>,
  instance: string,
): Record<string, string> =>
  ownLabels(instance, { [label.environment]: environment, [label.service]: service, [label.release]: id })

/**
 * Returns a function that returns where the replicas of a release are, and the labels of their
 * pods.
 */
export const replicasOn =
  (instance: string) =>
  ({ environment, release, service, pods }: ReplicasOfRoute) => ({
    namespace: namespaceOf(environment),
    // The labels of the platform win, so no route leads to pods of another service.
    labels: pods
      ? { ...pods, ...podLabels({ service, environment }, instance) }
      : labelsOf({ id: release, service, environment }, instance),
  })

/** The replicas to which a route leads. Pods of a chart have labels instead of a release. */
interface ReplicasOfRoute {
  readonly environment: string
  readonly release: string
  readonly service: string
  readonly pods?: Readonly<Record<string, string>>
}

/** The Deployment of a release. Each release has its own, so that two run side by side. */
function deployment(
  release: Release,
  { instance, pullSecret, leaveSeconds: wait = leaveSeconds }: Setting,
  { contents, objects }: { readonly contents: ReturnType<typeof contentsOf>; readonly objects: string },
) {
  const { workload } = release
  const labels = labelsOf(release, instance)
  const hasStorage = workload.storage.length > 0
  const leaving = workload.ports.length > 0 ? wait : 0
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: releaseName(release),
      namespace: namespaceOf(release.environment),
      labels,
      annotations: {
        ...usersAnnotations(release, 'DEPLOYMENTS', 'STATEFUL_SETS'),
        [annotation.name]: release.displayName,
        [annotation.objects]: objects,
      },
    },
    spec: {
      // Nobody but an autoscaler may own the number then.
      ...(!isAutoscaled(workload) && { replicas: replicaCount(workload) }),
      revisionHistoryLimit: 1,
      progressDeadlineSeconds: Math.max(1, workload.startDeadlineSeconds) + 60,
      ...(readinessProbe(workload) === undefined && { minReadySeconds: settleMs / 1000 }),
      // A release never changes. If a newer platform writes it in another way, its pods are
      // replaced.
      strategy: hasStorage
        ? { type: 'Recreate' }
        : { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      selector: { matchLabels: { [label.service]: release.service, [label.release]: release.id } },
      template: {
        metadata: {
          labels: { ...usersLabels(release), ...labels },
          annotations: {
            ...usersAnnotations(release, 'PODS'),
            [annotation.name]: release.displayName,
            [annotation.ports]: workload.ports.map(({ internalPort }) => internalPort).join(','),
          },
        },
        spec: {
          ...podSettings(pullSecret),
          terminationGracePeriodSeconds: workload.stopGraceSeconds + leaving,
          ...placement(release),
          containers: [replicaContainer(workload, contents, leaving)],
          volumes: [
            ...(contents.mounts.length > 0 ? [{ name: 'files', secret: { secretName: releaseName(release) } }] : []),
            ...workload.storage.map(({ id }) => ({
              name: volumeName(id),
              persistentVolumeClaim: { claimName: volumeName(id) },
            })),
          ],
        },
      },
    },
  }
}

function replicaContainer(workload: LongRunning, contents: ReturnType<typeof contentsOf>, leaving: number) {
  const { ports, storage, probes } = workload
  const readiness = readinessProbe(workload)
  const lifecycle = lifecycleOf(workload, leaving)
  const program = programContainer(workload, {
    ...contents,
    mounts: [
      ...storage.map(({ id, mountPoint }) => ({ name: volumeName(id), mountPath: mountPoint })),
      ...contents.mounts,
    ],
  })
  return {
    ...program,
    ports: ports.map((port) => ({ name: portName(port), containerPort: port.internalPort, protocol: transport(port) })),
    ...(readiness && {
      readinessProbe: kubeProbe({ ...readiness, failureThreshold: Math.max(3, readiness.failureThreshold) }),
    }),
    // Only a readiness probe may need several successes.
    ...(probes.liveness && { livenessProbe: kubeProbe({ ...probes.liveness, successThreshold: 1 }) }),
    ...(lifecycle && { lifecycle }),
  }
}

/** The commands at the start and the end of a replica, or the wait until no request comes. */
function lifecycleOf(workload: LongRunning, leaving: number): object | undefined {
  const { postStart, stopSignal } = workload
  // Kubernetes has no setting for the stop signal. A second signal, SIGTERM, follows.
  const signal = stopSignal === 'SIGINT' ? ['kill', '-s', 'INT', '1'] : undefined
  const preStop = workload.preStop && workload.preStop.length > 0 ? workload.preStop : signal
  const wait = leaving > 0 ? { sleep: { seconds: leaving } } : undefined
  const atEnd = preStop ? { exec: { command: preStop } } : wait
  if (!postStart?.length && !atEnd) return undefined
  return {
    ...(postStart?.length && { postStart: { exec: { command: postStart } } }),
    ...(atEnd && { preStop: atEnd }),
  }
}

/** Replicas of a release prefer different nodes, or need them. */
function placement({ id, service, workload }: Release) {
  const { nodeLabels, needsOwnNodes, zones } = workload
  const labelSelector = { matchLabels: { [label.service]: service, [label.release]: id } }
  const spread = (topologyKey: string, isRequired: boolean) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: isRequired ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector,
  })
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, labelSelector }] }
  return {
    topologySpreadConstraints: [
      spread(hostname, false),
      ...(zones ? [spread('topology.kubernetes.io/zone', zones === 'required')] : []),
    ],
    ...(nodeLabels && { nodeSelector: nodeLabels }),
    ...(needsOwnNodes && { affinity: { podAntiAffinity: apart } }),
  }
}

const hostname = 'kubernetes.io/hostname'

/** Lets a cluster end one replica at a time when it empties a node. */
function disruptionBudget({ id, service }: Release, metadata: KubeObject['metadata']) {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: {
      maxUnavailable: 1,
      // Replicas that fail keep nobody from emptying a node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { [label.service]: service, [label.release]: id } },
    },
  }
}

/**
 * A name of a service inside its environment. It leads to the ready replicas of all its releases.
 * Without ports there is no address in between: the name resolves to the replicas.
 */
function aliasService(release: Release, alias: string, instance: string) {
  const { service, environment, workload } = release
  const ports = workload.ports.map((port) => ({
    name: portName(port),
    port: port.internalPort,
    targetPort: port.internalPort,
    protocol: transport(port),
  }))
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: annotated(
      {
        name: alias,
        namespace: namespaceOf(environment),
        labels: ownLabels(instance, {
          [label.environment]: environment,
          [label.service]: service,
          [label.alias]: 'true',
        }),
      },
      usersAnnotations(release, 'SERVICES'),
    ),
    spec: {
      selector: { [label.instance]: instance, [label.service]: service },
      ...(ports.length > 0 ? { ports } : { clusterIP: 'None' }),
    },
  }
}

/** Names of ports have at most 15 characters, so the one of the user may be too long. */
const portName = (port: Port): string => `${transport(port).toLowerCase()}-${port.internalPort}`
const transport = ({ protocol }: Port): 'TCP' | 'UDP' => (protocol === 'UDP' ? 'UDP' : 'TCP')

/** Returns the claims of a release's volumes. They outlive it. */
export const volumeClaims = ({ service, environment, workload }: Release, instance: string): KubeObject[] =>
  workload.storage.map(({ id, sizeGiB }) => volumeClaim(id, { service, environment }, sizeGiB, instance))

/** Returns the claim of one volume, for its owner. */
export const volumeClaim = (
  id: string,
  { service, environment }: { readonly service: string; readonly environment: string },
  sizeGiB: number,
  instance: string,
): KubeObject & { readonly spec: object } => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: {
    name: volumeName(id),
    namespace: namespaceOf(environment),
    labels: ownLabels(instance, { [label.environment]: environment, [label.service]: service, [label.volume]: id }),
  },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: `${sizeGiB}Gi` } } },
})
