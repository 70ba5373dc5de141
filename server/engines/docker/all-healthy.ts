import type { Attempt } from '../../lib/attempt.ts'
import { everyOne } from '../../lib/every-one.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import type { LongRunning, Release } from '../engine.ts'
import { inspectContainer } from './containers.ts'
import type { ReplicaState } from './replica-state.ts'
import type { Host } from './start.ts'
import { untilHealthy } from './wait-healthy.ts'

/** A container that was healthy this long ago is asked again, because others were awaited since. */
const staleMs = 1000

/**
 * Waits until all containers are healthy at the same time: the first one may have died or turned
 * unhealthy while the others started. `deadlineMs` is by the clock's monotonic time. Throws
 * EngineError as `untilHealthy` does.
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

/** It has passed its probe often enough before, so one answer shows whether it is still healthy. */
function askedOnce(workload: LongRunning): LongRunning {
  const { readiness } = workload.probes
  if (!readiness) return workload
  return { ...workload, probes: { ...workload.probes, readiness: { ...readiness, successThreshold: 1 } } }
}
