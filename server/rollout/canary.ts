import { type CanaryRow, findCanary, listServiceRoutes, putCanary } from '../domains/index.ts'
import { EngineError } from '../engines/index.ts'
import { isRecreated, type ReleaseRow } from '../releases/index.ts'
import { findService } from '../services/index.ts'
import type { HealthyRelease } from './bring-up.ts'
import { beginText, canaryPlanOf, outcomesOf } from './canary-plan.ts'
import { type Trial, watchStep } from './canary-watch.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** How much longer than its steps a canary may take while the server or the router is away. */
const spareSeconds = 3600

/**
 * Step `CANARY`: gives a healthy release a growing share of the requests, as the advanced settings
 * of the service say. Throws EngineError if too many of them fail; `settle` then returns all
 * requests to the previous release. Without steps it does nothing.
 */
export async function tryOut(
  options: Recipe,
  work: Work,
  row: Pick<ReleaseRow, 'kind' | 'advanced_settings'>,
  { release, endpoints }: HealthyRelease,
): Promise<void> {
  const plan = canaryPlanOf(row.kind, row.advanced_settings)
  if (!plan || work.request.action !== 'DEPLOY') return
  const deadlineSeconds = plan.steps.length * plan.stepSeconds + spareSeconds
  await explainLate(
    work.step(
      `${work.target.service_id}/CANARY`,
      async ({ signal }) => {
        const begun = await findCanary(options.database, work.target.service_id, work.request.id)
        const previous = await findPrevious(options, work, row, begun !== undefined)
        using _ = options.canaryLooks.begin(work.organizationId)
        if (previous !== undefined) await takeSteps(options, work, { plan, release, previous, endpoints }, signal)
      },
      { deadlineSeconds, rests: 'in order' },
    ),
    () => new EngineError('not-ready', `Its canary steps did not end within ${deadlineSeconds} s. Deploy again.`),
  )
}

/** Returns the release that shares requests with the new one. Without it, the log says why. */
async function findPrevious(
  { database, engine }: Recipe,
  { target, report }: Work,
  { kind, advanced_settings }: Pick<ReleaseRow, 'kind' | 'advanced_settings'>,
  hasBegun: boolean,
): Promise<string | undefined> {
  const leaveOut = (why: string): undefined => {
    report.line(`Canary steps are left out: ${why}.`, 'warning')
    return undefined
  }
  if (target.wanted_release !== null) return leaveOut('a rollback gets all requests at once')
  if (!engine.capabilities.settings.has('canary')) return leaveOut('its cluster cannot share requests between versions')
  if (isRecreated(kind, advanced_settings)) return leaveOut('the previous version has already ended (Recreate)')
  const serving = (await findService(database, target.service_id))?.release_id
  if (hasBegun && serving) return serving
  const routes = (await listServiceRoutes(database, target.service_id)).filter((route) => route.public_port === null)
  if (routes.length === 0) return leaveOut('it has no public HTTP port')
  const isServing = routes.some((route) => route.release_id === serving && route.endpoints.length > 0)
  return serving && isServing ? serving : leaveOut('no previous version answers requests')
}

/** Takes the steps that are left, from the one and the moment at which an earlier process was. */
async function takeSteps(options: Recipe, work: Work, trial: Trial, signal: AbortSignal): Promise<void> {
  const { plan } = trial
  let row = await findCanary(options.database, work.target.service_id, work.request.id)
  for (let step = row?.step ?? 0; step < plan.steps.length; step++) {
    if (row?.step !== step) row = await enter(options, work, trial, { step, row }, signal)
    row = await watchStep(options, work, trial, row, signal)
    if (!row.is_promoted) continue
    work.report.line('The steps were ended by hand.')
    return
  }
}

/** Begins a step: the row first, then the router. */
async function enter(
  options: Recipe,
  { target, request, context, report }: Work,
  { plan, release, endpoints }: Trial,
  { step, row }: { readonly step: number; readonly row: CanaryRow | undefined },
  signal: AbortSignal,
): Promise<CanaryRow> {
  const counts = row?.counts ?? {}
  const { requests, failed, slow } = outcomesOf(counts)
  const next: CanaryRow = {
    service_id: target.service_id,
    request_id: request.id,
    release_id: release,
    percent: plan.steps[step] ?? 0,
    endpoints: row?.endpoints ?? endpoints,
    steps: plan.steps,
    step_seconds: plan.stepSeconds,
    max_error_percent: plan.maxErrorPercent,
    max_latency_ms: plan.maxLatencyMs ?? null,
    max_slow_percent: plan.maxSlowPercent,
    is_promoted: false,
    step,
    step_started_at: options.clock.now(),
    counts,
    requests_before: requests,
    failed_before: failed,
    slow_before: slow,
  }
  await context.fenced((sql) => putCanary(sql, next))
  report.line(beginText(plan, step))
  await whileUnreachable(options, signal, report, () => options.routes.apply(signal))
  return next
}
