import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { readCanarySteps } from '@quayside/contract/services/canary-steps.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { CanaryCounts, CanaryOutcomes } from '../domains/index.ts'

/** How a new version is tried out before it gets all requests. */
export interface CanaryPlan {
  /** The percentages of requests that it gets. Never empty, each larger than the one before. */
  readonly steps: readonly number[]
  readonly stepSeconds: number
  /** Above this percentage of failed requests, the deployment goes back. */
  readonly maxErrorPercent: number
  /** A response that begins later is slow. Undefined: none is. */
  readonly maxLatencyMs: number | undefined
  /** Above this percentage of slow requests, the deployment goes back. */
  readonly maxSlowPercent: number
  /** Fewer requests are not judged. */
  readonly minRequests: number
}

/**
 * Returns the plan in the advanced settings of a release. Undefined without steps, or if they were
 * stored before they were checked and cannot be followed.
 */
export function canaryPlanOf(kind: string, stored: SettingValues): CanaryPlan | undefined {
  const settings = effectiveSettings(settingsOfKind(kind), stored)
  const numberOf = (name: string): number => Number(settings[`deployment.canary.${name}`])
  const steps = stepsIn(settings['deployment.canary.steps'])
  if (steps.length === 0) return undefined
  return {
    steps,
    stepSeconds: numberOf('step_seconds'),
    maxErrorPercent: numberOf('max_error_percent'),
    maxLatencyMs: numberOf('max_latency_ms') || undefined,
    maxSlowPercent: numberOf('max_slow_percent'),
    minRequests: numberOf('min_requests'),
  }
}

function stepsIn(value: unknown): readonly number[] {
  try {
    return typeof value === 'string' ? readCanarySteps(value) : []
  } catch {
    return []
  }
}

/** Adds the counts of all router processes. */
export const outcomesOf = (counts: CanaryCounts): CanaryOutcomes =>
  Object.values(counts).reduce(
    (sum, { requests, failed, slow }) => ({
      requests: sum.requests + requests,
      failed: sum.failed + failed,
      slow: sum.slow + slow,
    }),
    { requests: 0, failed: 0, slow: 0 },
  )

/**
 * Returns the counts with newer ones of a version. Each process counts upwards, so that a router
 * that ended keeps its last numbers.
 */
export function withNewer(
  counts: CanaryCounts,
  newer: readonly ({ readonly source: string } & CanaryOutcomes)[],
): CanaryCounts {
  const next = { ...counts }
  for (const { source, requests, failed, slow } of newer) {
    if (requests >= (next[source]?.requests ?? 0)) next[source] = { requests, failed, slow }
  }
  return next
}

/**
 * Returns why the deployment goes back: too many requests failed or were slow, of this step or of
 * all steps together. Undefined if it continues.
 */
export function whyBack(plan: CanaryPlan, all: CanaryOutcomes, before: CanaryOutcomes): string | undefined {
  for (const seen of [outcomesSince(all, before), all]) {
    if (seen.requests < plan.minRequests) continue
    const { failed, slow } = seen
    if (isAbove(failed, seen, plan.maxErrorPercent)) return backText(seen, failed, 'failed', plan.maxErrorPercent)
    if (isAbove(slow, seen, plan.maxSlowPercent)) return backText(seen, slow, slowText(plan), plan.maxSlowPercent)
  }
  return undefined
}

const isAbove = (bad: number, { requests }: CanaryOutcomes, percent: number): boolean => bad * 100 > percent * requests

const backText = ({ requests }: CanaryOutcomes, bad: number, how: string, limit: number): string =>
  `It went back to the previous version: ${bad} of ${requests} requests to the new version ${how} ` +
  `(${Math.round((bad * 1000) / requests) / 10} %, the limit is ${limit} %).`

const slowText = ({ maxLatencyMs }: CanaryPlan): string => `waited longer than ${maxLatencyMs} ms for a response`

const outcomesSince = (all: CanaryOutcomes, before: CanaryOutcomes): CanaryOutcomes => ({
  requests: all.requests - before.requests,
  failed: all.failed - before.failed,
  slow: all.slow - before.slow,
})

export const beginText = ({ steps, stepSeconds }: CanaryPlan, step: number): string =>
  `Step ${step + 1} of ${steps.length}: ${steps[step]} % of requests go to the new version for ${stepSeconds} s.`

/** Describes the requests of a step so far. */
export function progressText(plan: CanaryPlan, step: number, all: CanaryOutcomes, before: CanaryOutcomes): string {
  const { requests, failed, slow } = outcomesSince(all, before)
  const late = plan.maxLatencyMs === undefined ? '' : `, ${slow} ${slowText(plan)}`
  return `${plan.steps[step]} % of requests go to the new version: ${failed} of ${requests} failed${late}.`
}

/** Describes a step that ended with too few requests for a judgement. Undefined for another one. */
export function fewText(plan: CanaryPlan, all: CanaryOutcomes, before: CanaryOutcomes): string | undefined {
  const { requests } = outcomesSince(all, before)
  if (requests >= plan.minRequests) return undefined
  return `Fewer than ${plan.minRequests} requests (deployment.canary.min_requests) are too few to judge this step.`
}
