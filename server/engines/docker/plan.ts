import type { Release } from '../engine.ts'
import { containerName, replicaCount } from './labels.ts'
import type { ContainerStatus } from './replica-state.ts'

/** A container that is there already, found by its labels. */
export interface FoundContainer {
  readonly id: string
  readonly release: string
  readonly replica: number
  readonly status: ContainerStatus
}

export type Operation =
  /** Makes the container, writes its files and starts it. */
  | { readonly do: 'create'; readonly replica: number; readonly name: string }
  /** Made but not running, perhaps by a process that died half-way: files are written again, then it is started. */
  | { readonly do: 'start'; readonly replica: number; readonly container: string }
  /** Running, or being brought back by the daemon: only waited for. */
  | { readonly do: 'adopt'; readonly replica: number; readonly container: string }
  | { readonly do: 'remove'; readonly container: string }

/**
 * What is missing until the release runs. Replicas that are there stay, whatever their numbers; new ones take the lowest free numbers.
 * Containers of other releases are not looked at. Removals come first.
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
  return [...removals, ...numbers.sort((a, b) => a - b).map((number) => bring(kept.get(number), number, release))]
}

function bring(container: FoundContainer | undefined, replica: number, release: Release): Operation {
  if (!container) return { do: 'create', replica, name: containerName(release, replica) }
  const isUp = container.status === 'running' || container.status === 'restarting'
  return { do: isUp ? 'adopt' : 'start', replica, container: container.id }
}

/** Paused by hand, dead or half removed: quicker to replace than to repair. */
const isUsable = (container: FoundContainer): boolean =>
  container.status !== 'dead' && container.status !== 'removing' && container.status !== 'paused'
