import { parseId } from '../../lib/id.ts'
import type { LongRunning, Release, Task, Volume, Workload } from '../engine.ts'
import { EngineError } from '../engine.ts'

/** Labels of everything that we create on an engine, and the only way to find it again. */
export const label = {
  instance: 'quayside.instance',
  service: 'quayside.service',
  environment: 'quayside.environment',
  release: 'quayside.release',
  replica: 'quayside.replica',
  /** The number of replicas of the release. It shows when one is missing. */
  replicas: 'quayside.replicas',
  ports: 'quayside.ports',
  stopGraceSeconds: 'quayside.stop-grace-seconds',
  liveness: 'quayside.liveness',
  /** Commands to run inside the replica, as JSON. */
  postStart: 'quayside.post-start',
  preStop: 'quayside.pre-stop',
  /** The limits that the replica was made with. They show when somebody changed one. */
  cpuMilli: 'quayside.cpu-milli',
  memoryMiB: 'quayside.memory-mib',
  name: 'quayside.name',
  storage: 'quayside.storage',
  /** The volume that this container helps to fill. Such a container never runs. */
  copy: 'quayside.copy',
  ofUser: 'quayside.label',
  /** A run of a task. A container with this label is not a replica. */
  run: 'quayside.run',
  /** The organization whose builds this container, or the volume of its cache, is for. */
  builder: 'quayside.builder',
  /** A hash of the settings of a builder. Another hash means an outdated container. */
  builderSpec: 'quayside.builder-spec',
  /** Marks a container that only holds the network of a run. */
  holder: 'quayside.network-holder',
} as const

/** Labels by name; `true` matches any value. */
export type Labels = Readonly<Record<string, string | true>>

/** Returns Docker's filter for objects of this installation with the given further labels. */
export const labelFilter = (instance: string, further: Labels = {}): { label: string[] } => ({
  label: Object.entries<string | true>({ [label.instance]: instance, ...further }).map(([name, value]) =>
    value === true ? name : `${name}=${value}`,
  ),
})

/**
 * Names contain only ids. The last digits of a release's id are random; the first digits encode a
 * time.
 */
export const containerName = (release: Pick<Release, 'id' | 'service'>, replica: number): string =>
  `quay-${safeId(release.service)}-${safeId(release.id).slice(-8)}-${replica}`

export const networkName = (environment: string): string => `quay-env-${safeId(environment)}`

/** Returns the name of the network that a container with these labels belongs to. */
export const networkNameOf = (labels: Readonly<Record<string, string>>): string =>
  `quay-env-${labels[label.environment] ?? ''}`

export const volumeName = (volume: Pick<Volume, 'id'>): string => `quay-vol-${safeId(volume.id)}`

export function containerLabels(instance: string, release: Release, replica: number): Record<string, string> {
  const workload = release.workload
  return {
    ...usersLabels(workload),
    [label.instance]: instance,
    [label.service]: release.service,
    [label.environment]: release.environment,
    [label.release]: release.id,
    [label.replica]: String(replica),
    [label.replicas]: String(replicaCount(workload)),
    [label.ports]: workload.ports.map((port) => port.internalPort).join(','),
    [label.stopGraceSeconds]: String(workload.stopGraceSeconds),
    [label.cpuMilli]: String(workload.cpuMilli),
    [label.memoryMiB]: String(workload.memoryMiB),
    [label.name]: release.displayName,
    ...(workload.postStart && { [label.postStart]: JSON.stringify(workload.postStart) }),
    ...(workload.preStop && { [label.preStop]: JSON.stringify(workload.preStop) }),
    ...(workload.probes.liveness && { [label.liveness]: JSON.stringify(workload.probes.liveness) }),
  }
}

export function taskLabels(instance: string, release: Release<Task>, run: string): Record<string, string> {
  return {
    ...usersLabels(release.workload),
    [label.instance]: instance,
    [label.service]: release.service,
    [label.environment]: release.environment,
    [label.release]: release.id,
    [label.run]: run,
    [label.stopGraceSeconds]: String(release.workload.stopGraceSeconds),
    [label.name]: release.displayName,
  }
}

/** Names the container of a run. The name is unique on the engine, so a run has one container. */
export function taskName(run: string): string {
  if (/^[0-9a-z][0-9a-z-]{0,79}$/.test(run)) return `quay-run-${run}`
  throw new EngineError('refused', 'the engine received an invalid run id')
}

/** Names the container that holds the network of a run. */
export const holderName = (run: string): string => taskName(run).replace('quay-run-', 'quay-net-')

/**
 * A prefix of ours for labels that users choose. Other programs on the host read labels, too, and
 * must not take orders from users.
 */
const usersLabels = ({ labels = {} }: Pick<Workload, 'labels'>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${label.ofUser}.${key}`, value]))

/**
 * Returns how many replicas a start creates. To scale, the release is started again with another
 * minimum.
 */
export const replicaCount = (workload: Pick<LongRunning, 'replicas'>): number => Math.max(1, workload.replicas.min)

function safeId(id: string): string {
  const parsed = parseId(id)
  if (parsed === undefined) throw new EngineError('refused', 'the engine received an invalid id')
  return parsed
}
