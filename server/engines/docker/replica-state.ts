import type { Endpoint } from '../engine.ts'
import type { ContainerInspectInfo } from './docker-api.ts'
import { label, networkNameOf } from './labels.ts'
import { fetchedAs } from './local-name.ts'

/** A container of ours as the daemon reports it, in the words of the engine. */
export interface ReplicaState {
  readonly id: string
  readonly name: string
  readonly service: string
  readonly environment: string
  readonly release: string
  readonly replica: number
  /** The number of replicas that its release should have. */
  readonly replicas: number
  readonly status: ContainerStatus
  /** Whether its program runs. */
  readonly running: boolean
  readonly exits: number
  readonly exitCode: number | undefined
  readonly outOfMemory: boolean
  /** Process id on the host; 0 if it does not run. */
  readonly pid: number
  /** RFC 3339, as the daemon writes it. */
  readonly createdAt: string
  readonly startedAt: string
  readonly finishedAt: string
  /** The image reference that the container was created with. */
  readonly image: string
  /**
   * Address in the environment's network. Undefined if it does not run or was disconnected from
   * that network.
   */
  readonly address: string | undefined
  readonly ports: readonly number[]
  readonly stopGraceSeconds: number
  /** Thousandths of a core; 0: no limit. */
  readonly cpuLimitMilli: number
  /** 0: no limit. */
  readonly memoryLimitMiB: number
  /** Whether Docker restarts it when it ends. */
  readonly restarts: boolean
  readonly labels: Readonly<Record<string, string>>
}

export type ContainerStatus = 'created' | 'running' | 'restarting' | 'paused' | 'removing' | 'exited' | 'dead'
const statuses: readonly ContainerStatus[] = [
  'created',
  'running',
  'restarting',
  'paused',
  'removing',
  'exited',
  'dead',
]

export const toStatus = (text: string): ContainerStatus => statuses.find((status) => status === text) ?? 'dead'

/**
 * Parses one response of `GET /containers/{id}/json`. Docker also reports a container as running
 * while it waits for its restart; this state does not.
 */
export function replicaState(info: ContainerInspectInfo): ReplicaState {
  const labels = info.Config.Labels
  const status = toStatus(info.State.Status)
  const ended = status === 'exited' || status === 'dead'
  return {
    id: info.Id,
    name: info.Name.replace(/^\//, ''),
    service: labels[label.service] ?? '',
    environment: labels[label.environment] ?? '',
    release: labels[label.release] ?? '',
    replica: Number(labels[label.replica] ?? 0),
    replicas: Number(labels[label.replicas] ?? 1),
    status,
    // A container that is paused while its volumes are copied counts as running. It resumes itself.
    running: status === 'running' || status === 'paused',
    exits: info.RestartCount + (ended ? 1 : 0),
    exitCode: ended || status === 'restarting' ? info.State.ExitCode : undefined,
    outOfMemory: info.State.OOMKilled,
    pid: info.State.Pid,
    createdAt: info.Created,
    startedAt: info.State.StartedAt,
    finishedAt: info.State.FinishedAt,
    image: fetchedAs(info.Config.Image) ?? info.Config.Image,
    address: status === 'running' || status === 'paused' ? addressOf(info) : undefined,
    ports: (labels[label.ports] ?? '').split(',').filter(Boolean).map(Number),
    stopGraceSeconds: Number(labels[label.stopGraceSeconds] ?? 10),
    cpuLimitMilli: Math.round((info.HostConfig.NanoCpus ?? 0) / 1_000_000),
    memoryLimitMiB: Math.round((info.HostConfig.Memory ?? 0) / 1024 ** 2),
    restarts: info.HostConfig.RestartPolicy?.Name === 'always',
    labels,
  }
}

export const endpointsOf = (state: ReplicaState): Endpoint[] => {
  const { address } = state
  return address === undefined ? [] : state.ports.map((port) => ({ replica: state.name, port, address }))
}

const addressOf = (info: ContainerInspectInfo): string | undefined =>
  info.NetworkSettings.Networks[networkNameOf(info.Config.Labels)]?.IPAddress || undefined

/** Whether a replica runs and can be reached. */
export const isUp = ({ running, address }: Pick<ReplicaState, 'running' | 'address'>): boolean =>
  running && address !== undefined

/**
 * Whether somebody changed a replica's limits or restart policy. Replicas of earlier versions do
 * not record their limits. An engine that does not support a limit reports 0 from the beginning.
 */
export function isChanged({ labels, cpuLimitMilli, memoryLimitMiB, restarts }: ReplicaState): boolean {
  const { [label.cpuMilli]: cpuMilli, [label.memoryMiB]: memoryMiB } = labels
  if (cpuMilli === undefined || memoryMiB === undefined) return false
  const differs = (is: number, wanted: string): boolean => is !== 0 && is !== Number(wanted)
  return differs(cpuLimitMilli, cpuMilli) || differs(memoryLimitMiB, memoryMiB) || !restarts
}
