import type { deployedStackActions, StackAction } from '@quayside/contract/services/terraform.ts'
import type { Database } from '../database/index.ts'
import type { JobEvent } from '../jobs/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { chartVersionOf, hasTag } from '../releases/index.ts'
import { checkTag, findService, type ServiceRow, updateTag } from '../services/index.ts'

/** The desired version of a deployment. Absent fields are taken from the settings. */
export interface WantedVersion {
  readonly commit?: string
  readonly tag?: string
  readonly chart?: string
  /** A commit of the repository with the values of a chart. */
  readonly valuesCommit?: string
  /** The event of a job to run. */
  readonly forceEvent?: JobEvent
  /** The action on a stack instead of applying its plan. */
  readonly stackAction?: StackAction
  /** The run of a stack whose plan is applied, and no other plan. */
  readonly planRun?: string
}

/** Returns the part of a request that applies the plan of a run. Throws AppError if it cannot. */
export type PlanToApply = (
  service: ServiceRow,
  plan: { readonly runId: string; readonly commit: string | undefined },
) => Promise<{ readonly release: string; readonly stackAction: 'APPLY_PLAN' }>

/** Throws 400 for a plan to apply together with another action. */
export async function planOf(
  { planToApply }: { readonly planToApply: PlanToApply },
  service: ServiceRow,
  { planRun, stackAction, commit }: Pick<WantedVersion, 'planRun' | 'stackAction' | 'commit'>,
) {
  if (planRun === undefined) return stackAction === undefined ? {} : { stackAction }
  if (stackAction === undefined) return planToApply(service, { runId: planRun.toLowerCase(), commit })
  throw new AppError('invalid', `plan_run_id must be absent with the action ${stackAction}.`)
}

/** Stores an image tag in the settings of a service and returns its row. */
export async function takeTag(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  service: ServiceRow,
  tag: string,
): Promise<ServiceRow> {
  if (!hasTag(service)) {
    throw new AppError('invalid', `image_tag: "${service.name}" is not made from an image of a registry.`)
  }
  checkTag('image_tag', tag)
  await updateTag(database, service, tag, clock.now())
  return (await findService(database, service.id)) ?? service
}

type AskedAction = (typeof deployedStackActions)[number] | null | undefined

/** Returns the action of a body as the part of a request. */
export const stackActionOf = (action: AskedAction): { readonly stackAction?: StackAction } =>
  action ? { stackAction: action } : {}

/** Throws 400 for another version of a chart than that of the settings, which deployments use. */
export function refuseChartVersion(service: ServiceRow, version: string | undefined): void {
  if (version === undefined || version === chartVersionOf(service)) return
  throw new AppError('invalid', `chart_version: edit the source of "${service.name}" to deploy another version.`)
}
