import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { addAll, figuresOf } from './figures.ts'
import { floorTo, levels, partsOf, type Range, rangeOf } from './levels.ts'
import { listSums, listWindows, readCompleteUntil, type WindowRow } from './traffic-store.ts'

/** The range that a client asks for. The last hour by default. */
export interface TrafficQuery {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly step_seconds?: number | undefined
}

export type TrafficReader = ReturnType<typeof createTrafficReader>

const hourMs = 3_600_000

/** Reads the numbers about traffic. */
export const createTrafficReader = ({ database, clock }: { readonly database: Database; readonly clock: Clock }) => ({
  /** Returns the numbers of one service. Throws AppError('invalid') for an empty range. */
  async ofService(serviceId: string, query: TrafficQuery = {}) {
    const nowMs = clock.now().getTime()
    // The current minute is part of the range, also at its first millisecond.
    const toMs = Math.min(query.to?.getTime() ?? nowMs + 1, nowMs + 1)
    const fromMs = query.from?.getTime() ?? toMs - 1 - hourMs
    if (fromMs >= toMs) throw new AppError('invalid', 'fromTimestamp must be before toTimestamp, and in the past.')
    const range = rangeOf({ fromMs, toMs, stepSeconds: query.step_seconds }, nowMs)
    const parts = partsOf(range, await readCompleteUntil(database))
    return pointsOf(range, await listWindows(database, serviceId, parts))
  },

  /** Returns the numbers of the services of an environment that had traffic in the last minutes. */
  async ofEnvironment(environmentId: string, minutes = 5) {
    const [{ seconds }] = levels
    const nowMs = clock.now().getTime()
    const fromMs = floorTo(nowMs, seconds) - (minutes - 1) * 60_000
    const sums = await listSums(database, { environmentId, seconds, from: new Date(fromMs) })
    const results = sums.map(({ service_id, counts }) => ({ service_id, ...figuresOf(counts) }))
    return { from: new Date(fromMs), to: new Date(nowMs), results }
  },
})

/** Pure: joins windows into the steps of a range. Each step has a point, also without traffic. */
function pointsOf({ fromMs, toMs, stepSeconds }: Range, rows: readonly WindowRow[]) {
  const byStep = Map.groupBy(rows, ({ starts_at }) => floorTo(starts_at.getTime(), stepSeconds))
  const steps = Array.from({ length: (toMs - fromMs) / (stepSeconds * 1000) }, (_, index) => {
    const startMs = fromMs + index * stepSeconds * 1000
    return { startMs, counts: addAll((byStep.get(startMs) ?? []).map(({ counts }) => counts)) }
  })
  return {
    from: new Date(fromMs),
    to: new Date(toMs),
    step_seconds: stepSeconds,
    total: figuresOf(addAll(steps.map(({ counts }) => counts))),
    points: steps.map(({ startMs, counts }) => ({ at: new Date(startMs), ...figuresOf(counts) })),
  }
}
