import type { Release } from '../engine.ts'
import type { ContainerInfo } from './docker-api.ts'
import { label, networkNameOf, replicaCount } from './labels.ts'
import { type ContainerStatus, toStatus } from './replica-state.ts'

/** An existing container, found by its labels. */
export interface FoundContainer {
  readonly id: string
  readonly release: string
  readonly replica: number
  readonly status: ContainerStatus
  /** False if somebody disconnected it from its environment's network or removed that network. */
  readonly isAttached: boolean
}

/** Converts a listed container. `network` is the id of the environment's network. */
export function toFound(container: ContainerInfo, network: string): FoundContainer {
  const { Id, Labels, State, NetworkSettings } = container
  const own = NetworkSettings?.Networks[networkNameOf(Labels)]
  // Before its first start a container does not know the network's id.
  const isAttached = own !== undefined && (own.NetworkID === '' || own.NetworkID === network)
  const release = Labels[label.release] ?? ''
  return { id: Id, release, replica: Number(Labels[label.replica]), status: toStatus(State), isAttached }
}

export type Operation =
  /** Creates the container, writes its files and starts it. */
  | { readonly do: 'create'; readonly replica: number }
  /**
   * Created but not running, perhaps by a process that was killed. Its files are written again
   * before the start.
   */
  | { readonly do: 'start'; readonly replica: number; readonly container: string }
  /** Running, but outside its environment's network: it is reconnected. */
  | { readonly do: 'join'; readonly replica: number; readonly container: string }
  /** Running, or being restarted by the daemon: only its health is awaited. */
  | { readonly do: 'adopt'; readonly replica: number; readonly container: string }
  | { readonly do: 'remove'; readonly container: string }

/**
 * Lists the operations until the release runs. Existing replicas are kept, whatever their numbers.
 * New ones take the lowest free numbers. Containers of other releases are ignored. Removals come
 * first.
 */
export function plan(found: readonly FoundContainer[], release: Release): Operation[] {
  const ours = found.filter((container) => container.release === release.id)
  const usable = ours.filter(isUsable).sort((a, b) => a.replica - b.replica)
  const kept = new Map(usable.map((container) => [container.replica, container] as const).reverse())
  const numbers = [...kept.keys()].sort((a, b) => a - b).slice(0, replicaCount(release.workload))
  for (let free = 1; numbers.length < replicaCount(release.workload); free++) {
    if (!kept.has(free)) numbers.push(free)
  }
  const chosen = new Set(numbers.map((number) => kept.get(number)?.id))
  const removals = ours
    .filter(({ id }) => !chosen.has(id))
    .map(({ id }): Operation => ({ do: 'remove', container: id }))
  return [...removals, ...numbers.sort((a, b) => a - b).map((number) => bring(kept.get(number), number))]
}

function bring(container: FoundContainer | undefined, replica: number): Operation {
  if (!container) return { do: 'create', replica }
  const isUp = container.status === 'running' || container.status === 'restarting'
  const up = container.isAttached ? 'adopt' : 'join'
  return { do: isUp ? up : 'start', replica, container: container.id }
}

/**
 * Whether a container can be reused. A paused, dead or half-removed one is replaced, which is
 * quicker than a repair. A stopped one without its network cannot start.
 */
const isUsable = ({ status, isAttached }: FoundContainer): boolean => {
  if (status === 'dead' || status === 'removing' || status === 'paused') return false
  return isAttached || status === 'running'
}
