import type { Observation } from '../../engine.ts'
import { describeExits, isFailing } from '../observe.ts'
import { type PodState, toReplica } from '../pod-state.ts'
import { explainWaiting } from '../waiting.ts'
import type { ChartPart } from './chart-objects.ts'

/**
 * Returns the observation of a chart by its pods. Pods that ended well, such as those of hooks, are
 * no replicas. Without pods, its other objects decide. The release is unknown here: pods that a new
 * release does not change stay the same. Pure.
 */
export function toChartObservation(pods: readonly PodState[], parts: readonly ChartPart[], now: Date): Observation {
  const services = parts.flatMap(({ target }) => target ?? [])
  const present = pods.filter(({ isLeaving, exitCode, running }) => !isLeaving && (running || exitCode !== 0))
  if (present.length === 0) return ofParts(parts)
  const failing = present.find((pod) => isFailing(pod, now))
  const late = present.filter(({ isReady }) => !isReady)
  // A pod of a failed Job exits once, and never again.
  const failed = failing ? `pod ${failing.name} ${describeExits(failing)}` : failureOf(parts)
  const reason = failed ?? lateText(late, present.length)
  return {
    state: failed !== undefined ? 'failing' : late.length > 0 ? 'starting' : 'running',
    release: '',
    replicas: present.map(toReplica).sort((a, b) => a.name.localeCompare(b.name)),
    ...(reason !== undefined && { reason }),
    ...(services.length > 0 && { services }),
  }
}

/**
 * Returns the observation of a chart none of whose pods runs. It is absent if it has no object, or
 * only volumes that it left.
 */
function ofParts(parts: readonly ChartPart[]): Observation {
  if (parts.every(({ isVolume }) => isVolume)) return { state: 'absent' }
  const failed = failureOf(parts)
  const pending = parts.find((part) => part.pending !== undefined)?.pending
  const reason = failed ?? pending
  const state = failed !== undefined ? 'failing' : pending !== undefined ? 'starting' : 'running'
  return { state, release: '', replicas: [], ...(reason !== undefined && { reason }) }
}

const failureOf = (parts: readonly ChartPart[]): string | undefined =>
  parts.find(({ failed }) => failed !== undefined)?.failed

function lateText(late: readonly PodState[], count: number): string | undefined {
  const [first] = late
  if (!first) return undefined
  const why = first.waiting ? `: ${explainWaiting(first.waiting)}` : ''
  return `${late.length} of ${count} pods ${late.length === 1 ? 'is' : 'are'} not ready${why}`
}
