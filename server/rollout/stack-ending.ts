import { EngineError } from '../engines/index.ts'
import { messageOf } from '../lib/error.ts'
import { findLastRelease, findRelease } from '../releases/index.ts'
import { endStackRun, findUnfinishedRuns, keptSerial, keptText, type StackRunRow } from '../stacks/index.ts'
import type { Recipe, Work } from './recipe.ts'
import { executeStack, keepOutcome, taskOf } from './stack-execution.ts'
import { loadStack, phaseRelease } from './stack-release.ts'

/**
 * Destroys the resources of a stack before it is deleted or uninstalled. A stack that was never
 * applied, or is already uninstalled, has none. A stop leaves them alone.
 */
export async function destroyStack(
  options: Recipe,
  work: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
): Promise<void> {
  const { target, report } = work
  if (action === 'STOP') return report.line('Nothing of a stack runs between its deployments. Its resources are kept.')
  if (target.stack_action === 'SKIP_DESTROY') {
    return report.line('Its resources are not destroyed, as requested. The platform forgets them.', 'warning')
  }
  const release = await findLastRelease(options.database, target.service_id)
  if (release?.kind !== 'terraform' || target.former_state === 'DELETED') {
    return report.line('It was never applied: nothing is destroyed.')
  }
  await executeStack(options, work, release, 'DESTROY')
}

/**
 * Ends the unfinished runs of a stack in order after its deployment failed or was cancelled, and
 * keeps the states that they wrote. If the state of an apply is lost, its stack stays locked.
 */
export async function endStack(options: Recipe, work: Work, signal: AbortSignal): Promise<void> {
  const { request, target, context } = work
  for (const run of await findUnfinishedRuns(options.database, target.service_id, request.id)) {
    const end = await endRun(options, work, run, signal)
    await context.fenced((sql) => endStackRun(sql, run.id, { ...end, now: options.clock.now() }))
  }
}

const lostText = (serial: number | undefined): string =>
  `The container of its apply was removed at work. ${keptText(serial)} The stack stays locked. Check its resources, ` +
  'and deploy with the action FORCE_UNLOCK.'

/** The container may be removed at any moment, also while it is listed. */
function absentIfRemoved(error: unknown): 'removed' {
  if (error instanceof EngineError && error.reason === 'crashed') return 'removed'
  throw error
}

async function endRun(options: Recipe, work: Work, run: StackRunRow, signal: AbortSignal) {
  const { engine, database } = options
  const row = run.release_id === null ? undefined : await findRelease(database, run.release_id)
  if (row?.kind !== 'terraform' || !row.image) throw new Error(`release ${run.release_id} of a run is gone`)
  const stack = await loadStack(options, work, row, { run: run.id, isDestroy: run.action === 'DESTROY' })
  const attempt = { signal, output: work.report }
  const tasks = await engine.listTasks(signal)
  const ended: string[] = []
  for (const phase of ['plan', 'apply', 'migrate'] as const) {
    const task = taskOf(stack, phase)
    const release = tasks.some((one) => one.run === task) && (await phaseRelease(options, stack, phase))
    const outcome = release ? await engine.stopTask(release, task, attempt).catch(absentIfRemoved) : 'removed'
    if (outcome === undefined) await engine.endTask(task, attempt)
    if (phase !== 'apply' || outcome === undefined) continue
    if (outcome === 'removed') {
      const serial = await keptSerial(database, row.service_id, run.id)
      if (run.is_applying) return { status: 'LOST', reason: lostText(serial) } as const
      continue
    }
    const kept = await keepOutcome(options, work, stack, phase, outcome)
    if (kept.reason !== null) ended.push(kept.reason)
  }
  const { aborted, reason } = work.context.signal
  if (aborted) return { status: 'CANCELED', reason: messageOf(reason) } as const
  return { status: 'ERROR', reason: ended.join(' ') || 'Its deployment failed.' } as const
}
