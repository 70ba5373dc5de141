import { isChartKind } from '@quayside/contract/services/kinds.ts'
import { newId } from '../lib/id.ts'
import type { Secret } from '../lib/secret.ts'
import { openVariables } from '../releases/index.ts'
import { leaveService, updateTarget } from '../requests/index.ts'
import { CanceledError } from '../workflows/index.ts'
import { diffLines } from './chart-diff-lines.ts'
import { storeDiff } from './chart-diff-store.ts'
import { findRunningChart } from './chart-traffic.ts'
import { compareChart, type MadeChart, makeChart } from './deploy-chart.ts'
import { toFailure } from './failure.ts'
import type { Recipe, Work } from './recipe.ts'

const diffSeconds = 300

/** Whether the deployment of a chart only shows what it would change. */
export const isDiff = ({ target }: Pick<Work, 'target'>): boolean =>
  isChartKind(target.kind) && target.stack_action === 'PLAN'

/**
 * Renders a chart as its deployment would. `DIFF` stores what that would change and writes it to
 * the log.
 * Nothing is installed, and the service keeps its state, also if the chart cannot be rendered.
 * Returns whether it was rendered.
 */
export async function diffChart(options: Recipe, work: Work): Promise<boolean> {
  const { target, step, context, report } = work
  if (target.finished_at !== null) return target.status === 'SUCCESS'
  try {
    const installed = await findInstalled(options, work)
    report.hide(installed.secrets)
    const made = await makeChart(options, work)
    await step(`${target.service_id}/DIFF`, ({ signal }) => compareOnce(options, work, { made, installed }, signal), {
      deadlineSeconds: diffSeconds,
    })
    await end(options, work, { status: 'SUCCESS', reason: null })
    return true
  } catch (error) {
    const { aborted, reason } = context.signal
    if (aborted && !(reason instanceof CanceledError)) throw error
    const failure = toFailure(aborted ? reason : error, 'DEPLOYMENT_ERROR')
    if (!failure) throw error
    report.line(failure.reason, 'error')
    await end(options, work, { status: failure.state === 'CANCELED' ? 'CANCELED' : 'ERROR', reason: failure.reason })
    return false
  }
}

/** The installed version. Its objects contain its secrets. */
interface Installed {
  readonly id: string | null
  readonly secrets: readonly Secret[]
}

async function findInstalled({ database, vault }: Recipe, { target, organizationId }: Work): Promise<Installed> {
  const running = await findRunningChart(database, target.service_id)
  if (!running) return { id: null, secrets: [] }
  const { secrets } = await openVariables(database, vault, organizationId, running)
  return { id: running.id, secrets }
}

async function compareOnce(
  options: Recipe,
  work: Work,
  { made, installed }: { readonly made: MadeChart; readonly installed: Installed },
  signal: AbortSignal,
): Promise<void> {
  const { target, request, context, report } = work
  const diff = await compareChart(options, work, { made, installed: installed.secrets }, signal)
  const of = { serviceId: target.service_id, requestId: request.id, releaseId: made.release }
  const now = options.clock.now()
  await context.fenced((sql) => storeDiff(sql, { id: newId(), now, diff, comparedReleaseId: installed.id, ...of }))
  for (const line of diffLines(diff)) report.line(line)
}

type End = { readonly status: 'SUCCESS' | 'ERROR' | 'CANCELED'; readonly reason: string | null }

/** Ends the part of the service, which gets back the state that it had before. */
async function end({ clock }: Recipe, { target, step, context }: Work, ended: End): Promise<void> {
  const state = target.former_state
  await step(
    `${target.service_id}/FINISH`,
    () =>
      context.fenced(async (sql) => {
        await updateTarget(sql, target, { ...ended, state, finished_at: clock.now() })
        await leaveService(sql, target, { event: 'skipped', state })
      }),
    { evenIfCanceled: true },
  )
}
