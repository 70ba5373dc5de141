import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { readCanarySteps } from '@quayside/contract/services/canary-steps.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { CanaryCounts } from '../domains/index.ts'

/** How a new version is tried out before it gets all requests. */
export interface CanaryPlan {
  /** The percentages of requests that it gets. Never empty, each larger than the one before. */
  readonly steps: readonly number[]
  readonly stepSeconds: number
  /** Above this percentage of failed requests, the deployment goes back. */
  readonly maxErrorPercent: number
  /** Fewer requests are not judged. */
  readonly minRequests: number
}

/** Requests to the new version, and how many of them failed. */
export interface Outcomes {
  readonly requests: number
  readonly failed: number
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
export const outcomesOf = (counts: CanaryCounts): Outcomes =>
  Object.values(counts).reduce(
    (sum, one) => ({ requests: sum.requests + one.requests, failed: sum.failed + one.failed }),
    { requests: 0, failed: 0 },
  )

/**
 * Returns the counts with newer ones of a version. Each process counts upwards, so that a router
 * that ended keeps its last numbers.
 */
export function withNewer(
  counts: CanaryCounts,
  newer: readonly ({ readonly source: string } & Outcomes)[],
): CanaryCounts {
  const next = { ...counts }
  for (const { source, requests, failed } of newer) {
    if (requests >= (next[source]?.requests ?? 0)) next[source] = { requests, failed }
  }
  return next
}

/**
 * Returns why the deployment goes back: too many requests of this step failed, or of all steps
 * together. Undefined if it continues.
 */
export function whyBack(plan: CanaryPlan, all: Outcomes, before: Outcomes): string | undefined {
  const bad = [outcomesSince(all, before), all].find((one) => isTooBad(plan, one))
  if (!bad) return undefined
  return (
    `It went back to the previous version: ${bad.failed} of ${bad.requests} requests to the new version failed ` +
    `(${shareText(bad)} %, the limit is ${plan.maxErrorPercent} %).`
  )
}

const isTooBad = ({ minRequests, maxErrorPercent }: CanaryPlan, { requests, failed }: Outcomes): boolean =>
  requests >= minRequests && failed * 100 > maxErrorPercent * requests

const shareText = ({ requests, failed }: Outcomes): string => String(Math.round((failed * 1000) / requests) / 10)

const outcomesSince = (all: Outcomes, before: Outcomes): Outcomes => ({
  requests: all.requests - before.requests,
  failed: all.failed - before.failed,
})

export const beginText = ({ steps, stepSeconds }: CanaryPlan, step: number): string =>
  `Step ${step + 1} of ${steps.length}: ${steps[step]} % of requests go to the new version for ${stepSeconds} s.`

/** Describes the requests of a step so far. */
export function progressText(plan: CanaryPlan, step: number, all: Outcomes, before: Outcomes): string {
  const { requests, failed } = outcomesSince(all, before)
  return `${plan.steps[step]} % of requests go to the new version: ${failed} of ${requests} failed.`
}

/** Describes a step that ended with too few requests for a judgement. Undefined for another one. */
export function fewText(plan: CanaryPlan, all: Outcomes, before: Outcomes): string | undefined {
  const { requests } = outcomesSince(all, before)
  if (requests >= plan.minRequests) return undefined
  return `Fewer than ${plan.minRequests} requests (deployment.canary.min_requests) are too few to judge this step.`
}
