import { isChartKind } from '@quayside/contract/services/kinds.ts'
import type { ChartChange } from '../engines/index.ts'
import { openVariables } from '../releases/index.ts'
import { leaveService, updateTarget } from '../requests/index.ts'
import { CanceledError } from '../workflows/index.ts'
import { findRunningChart } from './chart-traffic.ts'
import { compareChart, makeChart } from './deploy-chart.ts'
import { toFailure } from './failure.ts'
import type { Recipe, Work } from './recipe.ts'

const diffSeconds = 300

/** Whether the deployment of a chart only shows what it would change. */
export const isDiff = ({ target }: Pick<Work, 'target'>): boolean =>
  isChartKind(target.kind) && target.stack_action === 'PLAN'

/**
 * Renders a chart as its deployment would, and `DIFF` writes to the log what that would change.
 * Nothing is installed, and the service keeps its state, also if the chart cannot be rendered.
 * Returns whether it was rendered.
 */
export async function diffChart(options: Recipe, work: Work): Promise<boolean> {
  const { target, step, context, report } = work
  if (target.finished_at !== null) return target.status === 'SUCCESS'
  try {
    await hideFormerSecrets(options, work)
    const made = await makeChart(options, work)
    await step(
      `${target.service_id}/DIFF`,
      async ({ signal }) => {
        const changes = await compareChart(options, work, made, signal)
        for (const line of changes.flatMap(linesOf)) report.line(line)
        report.line(`${changes.length === 0 ? 'Nothing' : `${changes.length} object(s)`} would change. ${nothingDone}`)
      },
      { deadlineSeconds: diffSeconds },
    )
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

const nothingDone = 'Nothing was installed.'

/** The installed objects contain the secrets of the running version. */
async function hideFormerSecrets({ database, vault }: Recipe, work: Work): Promise<void> {
  const running = await findRunningChart(database, work.target.service_id)
  if (!running) return
  const { secrets } = await openVariables(database, vault, work.organizationId, running)
  work.report.hide(secrets)
}

const words = { CREATE: 'Create', CHANGE: 'Change', DELETE: 'Delete' } as const
const longest = 100

/** Returns the lines of a log about one object. Pure. */
export function linesOf({ kind, name, namespace, change, fields }: ChartChange): readonly string[] {
  const where = namespace === undefined ? '' : ` in the namespace ${namespace}`
  return [`${words[change]} ${kind} ${name}${where}`, ...fields.map((field) => `  ${fieldText(field)}`)]
}

function fieldText({ path, before, after }: ChartChange['fields'][number]): string {
  if (before === undefined && after === undefined) return `${path}: ******`
  return `${path}: ${short(before)} → ${short(after)}`
}

const short = (text = 'absent'): string => (text.length <= longest ? text : `${text.slice(0, longest)}…`)

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
