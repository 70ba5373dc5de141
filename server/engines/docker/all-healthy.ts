import type { Attempt } from '../../lib/attempt.ts'
import { everyOne } from '../../lib/every-one.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import type { LongRunning, Release } from '../engine.ts'
import { inspectContainer } from './containers.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Host } from './start.ts'
import { untilHealthy } from './wait-healthy.ts'

/** What was healthy so long ago, while others were waited for, is asked once more. */
const staleMs = 1000

/**
 * Waits until every container is healthy, all at the same time: one that was so first may have died or turned unhealthy while the others
 * were waited for. `deadlineMs` by the clock's monotonic time. Throws EngineError as `untilHealthy`.
 */
export async function allHealthy(
  { daemon, clock, events }: Host,
  release: Release,
  work: { readonly containers: readonly string[]; readonly deadlineMs: number },
  { signal: outer, output }: Attempt,
): Promise<ReplicaState[]> {
  const group = new AbortController()
  const signal = AbortSignal.any([outer, group.signal])
  const wait = { daemon, clock, events, service: release.service, deadlineMs: work.deadlineMs, signal, output }
  let isAskedAgain = false
  try {
    for (;;) {
      let firstMs = Number.POSITIVE_INFINITY
      const workload = isAskedAgain ? askedOnce(release.workload) : release.workload
      const healthy = await Promise.all(
        work.containers.map(async (container) => {
          const state = await untilHealthy({ ...wait, workload, container })
          firstMs = Math.min(firstMs, clock.monotonic())
          return state
        }),
      )
      const now = await daemon.patiently(signal, () =>
        everyOne(work.containers.map((id) => inspectContainer(daemon, id, signal))),
      )
      const isSame = (was: ReplicaState, index: number): boolean =>
        now[index]?.running === true && now[index].startedAt === was.startedAt
      const isWhole = healthy.every(isSame)
      if (isWhole && (isAskedAgain || clock.monotonic() - firstMs < staleMs)) return healthy
      isAskedAgain = isWhole
    }
  } finally {
    group.abort(nobodyWaits)
  }
}

/** It has been healthy as often as it has to be: one answer tells whether it is so still. */
function askedOnce(workload: LongRunning): LongRunning {
  const { readiness } = workload.probes
  if (!readiness) return workload
  return { ...workload, probes: { ...workload.probes, readiness: { ...readiness, successThreshold: 1 } } }
}
