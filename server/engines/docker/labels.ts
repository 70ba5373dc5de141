import { parseId } from '../../lib/id.ts'
import type { LongRunning, Release, Task, Volume, Workload } from '../engine.ts'
import { EngineError } from '../engine.ts'

/** What we write on everything we make, and the only thing by which we find it again. */
export const label = {
  instance: 'quayside.instance',
  service: 'quayside.service',
  environment: 'quayside.environment',
  release: 'quayside.release',
  replica: 'quayside.replica',
  /** How many replicas the release has: what is missing shows. */
  replicas: 'quayside.replicas',
  ports: 'quayside.ports',
  stopGraceSeconds: 'quayside.stop-grace-seconds',
  liveness: 'quayside.liveness',
  /** Commands inside the replica, as JSON. */
  postStart: 'quayside.post-start',
  preStop: 'quayside.pre-stop',
  /** What the replica was made to have: what somebody changed shows. */
  cpuMilli: 'quayside.cpu-milli',
  memoryMiB: 'quayside.memory-mib',
  name: 'quayside.name',
  storage: 'quayside.storage',
  /** The volume that a container which never runs helps to make. */
  copy: 'quayside.copy',
  ofUser: 'quayside.label',
  /** One run of a task: what has it is no replica. */
  run: 'quayside.run',
  /** A container that only holds the network of a run. */
  holder: 'quayside.network-holder',
} as const

/** By name; `true`: whatever its value. */
export type Labels = Readonly<Record<string, string | true>>

/** Docker's filter for things of this installation with the given further labels. */
export const labelFilter = (instance: string, further: Labels = {}): { label: string[] } => ({
  label: Object.entries<string | true>({ [label.instance]: instance, ...further }).map(([name, value]) =>
    value === true ? name : `${name}=${value}`,
  ),
})

/**
 * Names are made of ids alone. The last digits of a release's id are its random ones; the first are
 * a time.
 */
export const containerName = (release: Pick<Release, 'id' | 'service'>, replica: number): string =>
  `quay-${safeId(release.service)}-${safeId(release.id).slice(-8)}-${replica}`

export const networkName = (environment: string): string => `quay-env-${safeId(environment)}`

/** Of the network that a container with these labels belongs to. */
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

/** A container has the name of its run: Docker itself sees to it that there is one only. */
export function taskName(run: string): string {
  if (/^[0-9a-z][0-9a-z-]{0,79}$/.test(run)) return `quay-run-${run}`
  throw new EngineError('refused', 'the engine was given something that is not the id of a run')
}

/** The container that holds the network of a run. */
export const holderName = (run: string): string => taskName(run).replace('quay-run-', 'quay-net-')

/**
 * Below a word of ours: other programs on the host read labels, too, and must not take orders from
 * users.
 */
const usersLabels = ({ labels = {} }: Pick<Workload, 'labels'>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [`${label.ofUser}.${key}`, value]))

/**
 * How many replicas a start brings up: whoever scales the release starts it again with another
 * smallest number.
 */
export const replicaCount = (workload: Pick<LongRunning, 'replicas'>): number => Math.max(1, workload.replicas.min)

function safeId(id: string): string {
  const parsed = parseId(id)
  if (parsed === undefined) throw new EngineError('refused', 'the engine was given something that is not an id')
  return parsed
}
