import type { ChartService, Observation } from '../../engine.ts'
import { describeExits, isFailing } from '../observe.ts'
import { type PodState, toReplica } from '../pod-state.ts'
import { explainWaiting } from '../waiting.ts'

/**
 * Returns the observation of a chart by its pods. Pods that ended well, such as those of hooks, are
 * no replicas. The release is unknown here: pods that a new release does not change stay the same.
 * Pure.
 */
export function toChartObservation(
  pods: readonly PodState[],
  services: readonly ChartService[],
  now: Date,
): Observation {
  const present = pods.filter(({ isLeaving, exitCode, running }) => !isLeaving && (running || exitCode !== 0))
  if (present.length === 0) return { state: 'absent' }
  const failing = present.find((pod) => isFailing(pod, now))
  const late = present.filter(({ isReady }) => !isReady)
  const reason = failing ? `pod ${failing.name} ${describeExits(failing)}` : lateText(late, present.length)
  return {
    state: failing ? 'failing' : late.length > 0 ? 'starting' : 'running',
    release: '',
    replicas: present.map(toReplica).sort((a, b) => a.name.localeCompare(b.name)),
    ...(reason !== undefined && { reason }),
    ...(services.length > 0 && { services }),
  }
}

function lateText(late: readonly PodState[], count: number): string | undefined {
  const [first] = late
  if (!first) return undefined
  const why = first.waiting ? `: ${explainWaiting(first.waiting)}` : ''
  return `${late.length} of ${count} pods ${late.length === 1 ? 'is' : 'are'} not ready${why}`
}
