import { isLongRunningKind } from '@quayside/contract/services/kinds.ts'
import { keptImages } from '../disk/index.ts'
import { buildOf } from '../releases/index.ts'
import { findService } from '../services/index.ts'
import { drainOthers } from './drain.ts'
import { type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** The time limit of a clean-up, so that the environment's next request does not wait long. */
const retireSeconds = 120

/**
 * Drains and ends every other release of a service after its end is written. A failure here does
 * not change that end; the observer removes what is left.
 */
export async function retireFormer(options: Recipe, work: Work): Promise<void> {
  const id = work.target.service_id
  await work
    .step(`${id}/RETIRE`, ({ signal }) => retireOthers(options, work, signal), {
      deadlineSeconds: retireSeconds,
      evenIfCanceled: true,
    })
    .catch((error: unknown) => {
      options.log.warn({ err: error, serviceId: id }, 'the previous release could not be ended yet')
    })
}

async function retireOthers(options: Recipe, { target, report }: Work, signal: AbortSignal): Promise<void> {
  const id = target.service_id
  const service = await findService(options.database, id)
  const current = service?.release_id
  if (!current) return
  // Runs of a previous version of a job end by themselves. Helm removes what a chart no longer has.
  if (isLongRunningKind(target.kind)) await endOthers(options, report, { id, current }, signal)
  // Images of a service that is no longer built are left to the disk clean-up.
  if (buildOf(service)) await options.builder.prune(id, await keptImages(options.database, id), signal)
}

async function endOthers(
  options: Recipe,
  report: Work['report'],
  { id, current }: { readonly id: string; readonly current: string },
  signal: AbortSignal,
): Promise<void> {
  const open = await drainOthers(options, report, { id, keep: current }, signal)
  if (open > 0) report.line(`${open} request(s) on the previous version were still open and are ended.`, 'warning')
  await whileUnreachable(options, signal, report, () => options.engine.retire(id, current, { signal, output: report }))
}
