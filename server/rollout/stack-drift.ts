import { isAtRest } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import { EngineError, type TaskOutcome } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { AppError } from '../lib/error.ts'
import { masker } from '../lib/masker.ts'
import { findRelease } from '../releases/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import {
  driftLines,
  endStackRun,
  holdsLock,
  type PlanSummary,
  planLines,
  setDrifted,
  stackFailure,
  unfinishedDrift,
} from '../stacks/index.ts'
import { recordDriftEvent } from '../webhooks/index.ts'
import type { RunContext, Step, Workflow } from '../workflows/index.ts'
import type { StackRelease } from './deploy-stack.ts'
import { type Recipe, type RecipeOptions, recipeFor, whileUnreachable } from './recipe.ts'
import { taskOf } from './stack-execution.ts'
import { type LoadedStack, loadStack, phaseRelease } from './stack-release.ts'

export const driftWorkflow = 'stack-drift'

export interface DriftInput {
  readonly runId: string
  readonly serviceId: string
  readonly [key: string]: string
}

/** A check takes an hour at most, even if runs of its stack may take longer. */
const longestSeconds = 3600
const marginSeconds = 300

/**
 * One check of a stack for drift: makes a plan of the deployed version and never applies it. It
 * holds the lock of the stack only until a deployment takes it. Does nothing if the stack is not
 * deployed or has other work.
 */
export const createDriftWorkflow = (options: RecipeOptions): Workflow<DriftInput> => ({
  name: driftWorkflow,
  run: (input, step, context) => check(options, input, step, context),
  abandoned: (input, reason, sql) =>
    endStackRun(sql, input.runId, {
      status: reason === 'canceled' ? 'CANCELED' : 'ERROR',
      reason: `It could not continue (${reason}).`,
      now: options.clock.now(),
    }),
  unfinished: unfinishedDrift,
})

async function check(options: RecipeOptions, input: DriftInput, step: Step, context: RunContext): Promise<void> {
  const service = await findService(options.database, input.serviceId)
  if (!service) return
  const recipe = recipeFor(options, { engine: service.cluster_engine })
  using _ = await recipe.slots.deployments.take(context.signal, service.organization_id)
  const releaseId = await step('BEGIN', () => context.fenced((sql) => begin(options, sql, input)))
  const row = releaseId === null ? undefined : await findRelease(options.database, releaseId)
  if (row?.kind !== 'terraform') return
  try {
    await makePlan(recipe, { service, row, runId: input.runId, step, context })
  } catch (error) {
    if (context.signal.aborted || !(error instanceof AppError || error instanceof EngineError)) throw error
    const end = { status: 'ERROR', reason: error.message, now: options.clock.now() } as const
    await context.fenced((sql) => endStackRun(sql, input.runId, end))
  }
}

/** Returns the version to check. Null: nothing is checked now, or a deployment has the lock. */
async function begin({ stacks }: RecipeOptions, sql: Sql, { runId, serviceId }: DriftInput): Promise<string | null> {
  const service = await findService(sql, serviceId)
  const row = service && (await checkedVersion(sql, service))
  if (!row) return null
  const run = { id: runId, service_id: serviceId, release_id: row.id, backend: row.settings.backend }
  if ((await stacks.beginDrift(sql, run)) !== undefined) return null
  return (await holdsLock(sql, runId)) ? row.id : null
}

/** Returns the deployed version of a stack. Undefined if it has none, or is not settled. */
export async function checkedVersion(sql: Sql, service: ServiceRow): Promise<StackRelease | undefined> {
  const { state, release_id, copying, restoring } = service
  // A stopped or uninstalled stack has no release.
  if (!isAtRest(state) || release_id === null || copying !== null || restoring !== null) return undefined
  const row = await findRelease(sql, release_id)
  return row?.kind === 'terraform' ? row : undefined
}

interface Check {
  readonly service: ServiceRow
  readonly row: StackRelease
  readonly runId: string
  readonly step: Step
  readonly context: RunContext
}

async function makePlan(recipe: Recipe, { service, row, runId, step, context }: Check): Promise<void> {
  const of = { target: { service_id: service.id }, organizationId: service.organization_id }
  const loaded = await loadStack(recipe, of, row, { run: runId, isDestroy: false, isDriftCheck: true })
  const stack = { ...loaded, timeoutSeconds: Math.min(loaded.timeoutSeconds, longestSeconds) }
  recipe.collect(service.id, row.id, stack.secrets)
  const task = taskOf(stack, 'plan')
  const attempt = (signal: AbortSignal) => ({ signal, output: silent })
  await step('PREPARE', async ({ signal }) => {
    const release = await phaseRelease(recipe, stack, 'plan')
    await whileUnreachable(recipe, signal, silent, () => recipe.engine.prepareTask(release, task, attempt(signal)))
  })
  await step(
    'PLAN',
    async ({ signal }) => {
      const release = await phaseRelease(recipe, stack, 'plan')
      const run = () => recipe.engine.runTask(release, task, attempt(signal))
      const outcome = await whileUnreachable(recipe, signal, silent, run).catch(undefinedIfRemoved)
      await keep(recipe, context, { stack, outcome })
    },
    { deadlineSeconds: stack.timeoutSeconds + marginSeconds, rests: 'at once' },
  )
  await step('END', ({ signal }) => recipe.engine.endTask(task, attempt(signal)), { evenIfCanceled: true })
}

/** A deployment that took the lock has the container removed. */
function undefinedIfRemoved(error: unknown): undefined {
  if (error instanceof EngineError && error.reason === 'crashed') return undefined
  throw error
}

interface Checked {
  readonly stack: LoadedStack
  readonly outcome: TaskOutcome | undefined
}

/** Keeps the result of a check, unless a deployment took the lock in the meantime. */
async function keep({ stacks, clock }: Recipe, context: RunContext, { stack, outcome }: Checked): Promise<void> {
  const { owner, run, secrets } = stack
  const failure = outcome ? stackFailure(outcome, stack, 'plan') : 'Its container was removed.'
  const isMade = failure === undefined && outcome !== undefined
  const plan = isMade ? await stacks.readLeftPlan(owner, secrets, outcome) : undefined
  await context.fenced(async (sql) => {
    if (!(await holdsLock(sql, run))) return
    const now = clock.now()
    if (!isMade || !plan) {
      return endStackRun(sql, run, { status: 'ERROR', reason: masker(secrets)(failure ?? ''), now })
    }
    await stacks.keepPlan(sql, owner, { id: run, plan }, outcome)
    await endStackRun(sql, run, { status: 'SUCCESS', reason: null, now })
    const isNews = await setDrifted(sql, owner.serviceId, plan.has_changes ? now : null)
    if (isNews && plan.has_changes)
      await recordDriftEvent(sql, { serviceId: owner.serviceId, runId: run, lines: linesOf(plan) }, now)
  })
}

/** The first lines for a receiver: changes from outside, else the effect of a deployment. */
const linesOf = (plan: PlanSummary): string[] => (plan.drift.length > 0 ? driftLines(plan.drift) : planLines(plan))
