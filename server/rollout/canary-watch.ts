import { isDeepStrictEqual } from 'node:util'
import {
  type CanaryOutcomes,
  type CanaryRow,
  findCanary,
  leadsTo,
  setCanaryCounts,
  setCanaryEndpoints,
  setEndpoints,
} from '../domains/index.ts'
import { type Endpoint, EngineError } from '../engines/index.ts'
import { liveEndpoints } from '../observations/index.ts'
import { lockService } from '../services/index.ts'
import { type CanaryPlan, fewText, outcomesOf, progressText, whyBack, withNewer } from './canary-plan.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** How often a long step reports its requests. */
const reportMs = 30_000

/** A new version on trial, and the release that has the other requests. */
export interface Trial {
  readonly plan: CanaryPlan
  readonly release: string
  readonly previous: string
  /** Where the new version answered when it became healthy. */
  readonly endpoints: readonly Endpoint[]
}

/**
 * Watches a step until its time is over or a person ends it. Returns its row. Throws EngineError if
 * too many requests failed, or if the new version no longer runs.
 */
export async function watchStep(
  options: Recipe,
  work: Work,
  trial: Trial,
  row: CanaryRow,
  signal: AbortSignal,
): Promise<CanaryRow> {
  const { canaryLooks, clock } = options
  const { plan } = trial
  const before: CanaryOutcomes = {
    requests: row.requests_before,
    failed: row.failed_before,
    slow: row.slow_before,
  }
  const endMs = row.step_started_at.getTime() + plan.stepSeconds * 1000
  let counts = row.counts
  let reportAt = clock.monotonic() + reportMs
  for (;;) {
    // In this order: a step that is over is judged by requests from its whole time.
    const isOver = clock.now().getTime() >= endMs
    counts = await count(options, work, trial, counts, signal)
    const all = outcomesOf(counts)
    const back = whyBack(plan, all, before)
    if (back !== undefined) return goBack(work, new EngineError('refused', back))
    const { endpoints, is_promoted } = await follow(options, work, trial, row, signal)
    if (isOver || clock.monotonic() >= reportAt) {
      work.report.line(progressText(plan, row.step, all, before))
      reportAt = clock.monotonic() + reportMs
    }
    const few = isOver ? fewText(plan, all, before) : undefined
    if (few !== undefined) work.report.line(few, 'warning')
    if (isOver || is_promoted) return { ...row, counts, endpoints, is_promoted }
    const leftMs = Math.max(1, endMs - clock.now().getTime())
    await clock.sleep(Math.min(canaryLooks.everyMs(work.organizationId), leftMs), signal)
  }
}

/** Takes all requests from the new version for good, also if the server is killed now. Throws. */
async function goBack({ target, context }: Work, error: EngineError): Promise<never> {
  await context.fenced((sql) => setCanaryEndpoints(sql, target.service_id, []))
  throw error
}

/** Stores and returns the newest counts of the version. */
async function count(
  options: Recipe,
  { target, context, report }: Work,
  { release }: Trial,
  counts: CanaryRow['counts'],
  signal: AbortSignal,
): Promise<CanaryRow['counts']> {
  const id = target.service_id
  const found = await whileUnreachable(options, signal, report, () =>
    options.canaryLooks.counts(options.router, signal),
  )
  const own = found.filter((one) => one.service === id && one.release === release)
  const newer = withNewer(counts, own)
  if (!isDeepStrictEqual(newer, counts)) await context.fenced((sql) => setCanaryCounts(sql, id, newer))
  return newer
}

/**
 * Sends requests only to replicas that run. The observer leaves the service alone while a request
 * acts on it. Returns the present row. Throws if no replica of the new version runs any more.
 */
async function follow(
  options: Recipe,
  work: Work,
  { release, previous, endpoints }: Trial,
  known: CanaryRow,
  signal: AbortSignal,
): Promise<Pick<CanaryRow, 'endpoints' | 'is_promoted'>> {
  const { target, context, report, request } = work
  const id = target.service_id
  const seen = await whileUnreachable(options, signal, report, () => options.engine.observe(id, signal))
  const running = new Set(liveEndpoints(release, seen).map(keyOf))
  const live = endpoints.filter((endpoint) => running.has(keyOf(endpoint)))
  const row = (await findCanary(options.database, id, request.id)) ?? known
  // Without endpoints in the row, an earlier process went back and was killed.
  if (live.length === 0 || row.endpoints.length === 0) return goBack(work, new EngineError('crashed', goneText))
  const others = liveEndpoints(previous, seen)
  const isSame = isDeepStrictEqual(row.endpoints.map(keyOf), live.map(keyOf))
  if (isSame && (await leadsTo(options.database, id, previous, others))) return row
  await context.fenced(async (sql) => {
    await lockService(sql, id)
    await setEndpoints(sql, id, previous, others, options.clock.now())
    await setCanaryEndpoints(sql, id, live)
  })
  await whileUnreachable(options, signal, report, () => options.routes.apply(signal))
  return { ...row, endpoints: live }
}

const keyOf = ({ address, port }: { readonly address: string; readonly port: number }): string => `${address} ${port}`

const goneText = 'It went back to the previous version: no replica of the new version runs any more.'
