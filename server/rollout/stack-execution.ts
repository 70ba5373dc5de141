import { EngineError, type TaskOutcome } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import { updateTarget } from '../requests/index.ts'
import {
  endStackRun,
  loseRun,
  markApplying,
  type Phase,
  planLines,
  type StackAction,
  stackFailure,
  withWrapped,
} from '../stacks/index.ts'
import type { ServiceOutput } from '../variables/index.ts'
import type { StackRelease } from './deploy-stack.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'
import { type LoadedStack, loadStack, phaseRelease } from './stack-release.ts'
import { whileKeepingState } from './stack-snapshots.ts'

const prepareSeconds = 600
/** Time beyond the limit of the program, for an unreachable engine and for keeping the result. */
const marginSeconds = 900

/**
 * Runs a stack: makes a plan, and applies exactly that plan unless only the plan was requested or
 * it changes nothing. Or applies the plan of an earlier run, or moves its state. Each phase is two
 * steps, so the next holder of the workflow joins its program and starts none twice. Throws
 * EngineError with the reason if a phase fails, after its state is kept.
 */
export async function executeStack(options: Recipe, work: Work, row: StackRelease, action: StackAction): Promise<void> {
  const { step, target, context, report } = work
  const id = target.service_id
  report.enter('Executing')
  const run = await step(`${id}/RUN`, () => begin(options, work, row, action))
  const stack = await loadStack(options, work, row, { run, isDestroy: action === 'DESTROY' })
  report.hide(stack.secrets)
  options.collect(id, row.id, stack.secrets)
  const phase = async (name: PhaseName): Promise<boolean> => {
    await prepare(options, work, stack, name)
    return runPhase(options, work, stack, name)
  }
  if (action === 'MIGRATE_STATE') await phase('migrate')
  else if (target.stack_action === 'APPLY_PLAN') await phase('apply')
  else if ((await phase('plan')) && action !== 'PLAN') await phase('apply')
  await context.fenced((sql) => endStackRun(sql, run, { status: 'SUCCESS', reason: null, now: options.clock.now() }))
}

/** Takes the lock of the stack. The run of a shown plan takes that plan. */
async function begin(options: Recipe, work: Work, row: StackRelease, action: StackAction): Promise<string> {
  const { target, context, request, organizationId, report } = work
  const id = newId()
  const { service_id, wanted_release } = target
  const shown = await context.fenced(async (sql) => {
    await updateTarget(sql, target, { release_id: row.id })
    const of = { service_id, release_id: row.id, request_id: request.id }
    await options.stacks.begin(sql, { id, ...of, action, backend: row.settings.backend })
    if (target.stack_action !== 'APPLY_PLAN' || wanted_release === null) return undefined
    const owner = { serviceId: service_id, organizationId }
    return options.stacks.takePlan(sql, owner, { releaseId: wanted_release, runId: id })
  })
  if (shown) for (const line of planLines(shown.plan)) report.line(line)
  return id
}

type PhaseName = Phase['name']
const stepNames = { plan: 'PLAN', apply: 'APPLY', migrate: 'MIGRATE' } as const
const beginnings = {
  plan: 'Making a plan.',
  apply: 'Applying the plan.',
  migrate: 'Moving the state to the backend of the settings.',
} as const

async function prepare(options: Recipe, work: Work, stack: LoadedStack, phase: PhaseName): Promise<void> {
  const { step, target, report } = work
  await explainLate(
    step(
      `${target.service_id}/PREPARE-${stepNames[phase]}`,
      async ({ signal }) => {
        const release = await phaseRelease(options, stack, phase)
        const attempt = { signal, output: report }
        await whileUnreachable(options, signal, report, async () => {
          // The plan is kept. A node may not have room for both phases.
          if (phase === 'apply') await options.engine.freeTask(taskOf(stack, 'plan'), attempt)
          await options.engine.prepareTask(release, taskOf(stack, phase), attempt)
        })
        if (phase === 'apply') await work.context.fenced((sql) => markApplying(sql, stack.run, options.clock.now()))
      },
      { deadlineSeconds: prepareSeconds },
    ),
    () => new EngineError('unreachable', `The engine had not prepared the run after ${prepareSeconds} s. Try again.`),
  )
}

/** The engine's name for a phase of a run. */
export const taskOf = ({ run }: Pick<LoadedStack, 'run'>, phase: PhaseName): string => `${run}-${phase}`

/** Returns whether the plan changes anything. */
async function runPhase(options: Recipe, work: Work, stack: LoadedStack, phase: PhaseName): Promise<boolean> {
  const { step, target, report } = work
  const deadlineSeconds = stack.timeoutSeconds + marginSeconds
  report.line(beginnings[phase])
  const { reason, lastLines, hasChanges } = await step(
    `${target.service_id}/${stepNames[phase]}`,
    async ({ signal }) => {
      const release = await phaseRelease(options, stack, phase)
      const task = taskOf(stack, phase)
      const run = () =>
        whileUnreachable(options, signal, report, () =>
          options.engine.runTask(release, task, { signal, output: report }),
        )
      const keepsState = phase === 'apply' && stack.row.settings.backend === 'kubernetes'
      const outcome = keepsState
        ? await whileKeepingState(options, work, { stack, release, task }, { signal, run })
        : await run()
      return keepOutcome(options, work, stack, phase, outcome)
    },
    { deadlineSeconds, rests: 'at once' },
  )
  failpoint('stack.ran')
  if (reason !== null) throw new EngineError('crashed', reason, { lastLines })
  return hasChanges
}

function unreadable(error: unknown): { readonly outputs: readonly ServiceOutput[]; readonly unread: string } {
  if (error instanceof AppError) return { outputs: [], unread: error.message }
  throw error
}

/** Keeps what an apply has made. Returns its outputs, if it succeeded. */
async function keepResult(
  { stacks }: Recipe,
  context: Work['context'],
  {
    stack,
    outcome,
    isWhole,
  }: { readonly stack: LoadedStack; readonly outcome: TaskOutcome; readonly isWhole: boolean },
): Promise<readonly ServiceOutput[]> {
  const result = await stacks.readLeftResult(stack.owner, stack.secrets, outcome, { isWhole })
  if (!result) return []
  await context.fenced((sql) => stacks.keepResult(sql, stack.owner, result, { isWhole }))
  return result.outputs
}

/** Keeps everything that a phase has left, and returns why it failed. May be repeated. */
export async function keepOutcome(
  options: Recipe,
  work: Pick<Work, 'context' | 'report'>,
  stack: LoadedStack,
  phase: PhaseName,
  outcome: TaskOutcome,
): Promise<{ reason: string | null; lastLines: string[]; hasChanges: boolean }> {
  const { context, report } = work
  const { stacks } = options
  // The engine knows a secret as a whole, and not the parts of one that lines of a stack have.
  const mask = masker(stack.secrets)
  const found = stackFailure(outcome, stack, phase)
  const failure = found === undefined ? undefined : mask(found)
  const end = { reason: failure ?? null, lastLines: failure === undefined ? [] : outcome.lastLines.map(mask) }
  if (phase === 'plan') {
    if (failure !== undefined) return { ...end, hasChanges: false }
    const plan = await stacks.readLeftPlan(stack.owner, stack.secrets, outcome)
    await context.fenced((sql) => stacks.keepPlan(sql, stack.owner, { id: stack.run, plan }, outcome))
    for (const line of planLines(plan)) report.line(line)
    return { ...end, hasChanges: plan.has_changes }
  }
  const left = await stacks.readLeftState(stack.owner, outcome)
  if (phase === 'migrate') {
    const run = { id: stack.run, backend: stack.row.settings.backend }
    const problem = failure ?? (await context.fenced((sql) => stacks.keepMoved(sql, stack.owner, run, left))) ?? null
    return { ...end, reason: problem, hasChanges: true }
  }
  const isWhole = failure === undefined
  const problem = await context.fenced(async (sql) => {
    const problem = await stacks.keepState(sql, stack.owner, stack.run, left)
    if (problem) await loseRun(sql, stack.run, problem, options.clock.now())
    return problem
  })
  // The state is kept even if the resources cannot be read.
  const isTaken = isWhole && !problem
  const { outputs, unread } = await keepResult(options, context, { stack, outcome, isWhole: isTaken }).then(
    (kept) => ({ outputs: kept, unread: undefined }),
    unreadable,
  )
  const secrets = withWrapped(outputs.filter(({ isSecret }) => isSecret).map(({ value }) => new Secret(value)))
  report.hide(secrets)
  options.collect(stack.owner.serviceId, stack.row.id, [...stack.secrets, ...secrets])
  const names = outputs.map(({ key, isSecret }) => (isSecret ? `${key} (secret)` : key)).join(', ')
  if (isTaken && names !== '') report.line(`Its outputs are variables of the environment now: ${names}.`)
  return { ...end, reason: [failure, problem, unread].filter(Boolean).join(' ') || null, hasChanges: true }
}
