import { phases } from '@quayside/contract/states.ts'
import { listServiceRoutes, setEndpoints } from '../domains/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { serviceStream } from '../logs/index.ts'
import { deleteServiceRow } from '../services/index.ts'
import { type RecipeOptions, type ReportStep, type Work, whileUnreachable } from './recipe.ts'
import { finishTarget } from './settle.ts'
import { setServiceState, updateTarget } from './target-store.ts'

const words: Record<'STOP' | 'DELETE' | 'UNINSTALL', { working: ReportStep; done: ReportStep; line: string }> = {
  STOP: { working: 'Pause', done: 'Paused', line: 'It is stopped; its volumes are kept.' },
  DELETE: { working: 'Delete', done: 'Deleted', line: 'It is deleted.' },
  UNINSTALL: { working: 'Delete', done: 'Deleted', line: 'It is uninstalled; its settings are kept.' },
}

/** Stops, uninstalls or deletes a service: traffic first, then what runs, then (not for a stop) volumes and images. */
export async function endService(
  options: RecipeOptions,
  work: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
): Promise<void> {
  const { target, step, context, report } = work
  const id = target.service_id
  const { working, done } = phases[action]
  await context.fenced(async (sql) => {
    await updateTarget(sql, target, { state: working })
    await setServiceState(sql, id, working)
  })
  report.enter(words[action].working)
  const former = await step(`${id}/ROUTER_DEPLOYMENT`, ({ signal }) => unpublish(options, work, signal), {
    deadlineSeconds: 120,
  })
  await step(`${id}/DEPLOYMENT`, ({ signal }) => end(options, work, action, former, signal), { deadlineSeconds: 300 })
  failpoint('retire.stopped')
  await step(
    `${id}/FINISH`,
    () =>
      context.fenced(async (sql) => {
        const now = options.clock.now()
        await finishTarget(sql, { target, request: work.request, state: done, now })
        if (action === 'DELETE') await deleteServiceRow(sql, id)
        else await sql`update service set last_deployment_date = ${now} where id = ${id}`
      }),
    { evenIfCanceled: true },
  )
  if (action === 'DELETE') await options.lines.remove(serviceStream(id))
  report.enter(words[action].done)
  report.line(words[action].line)
}

/** Takes the service off the router, and off the wish list of the reconcilers. */
async function unpublish(options: RecipeOptions, { target, context }: Work, signal: AbortSignal) {
  const id = target.service_id
  const former = await context.fenced(async (sql) => {
    const routes = await listServiceRoutes(sql, id)
    await setEndpoints(sql, id, null, [], options.clock.now())
    await sql`update service set release_id = null where id = ${id}`
    return routes.flatMap((route) => route.endpoints)
  })
  await options.routes.apply(signal)
  return former.map(({ address, port }) => ({ address, port }))
}

async function end(
  options: RecipeOptions,
  { target, report }: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
  former: readonly { address: string; port: number }[],
  signal: AbortSignal,
): Promise<void> {
  const { engine, builder, router, drainMs } = options
  if (former.length > 0) await router.drained(former, drainMs, signal)
  const attempt = { signal, output: report }
  await whileUnreachable(options, signal, report, () =>
    action === 'STOP' ? engine.retire(target.service_id, undefined, attempt) : engine.erase(target.service_id, attempt),
  )
  if (action !== 'STOP') await builder.prune(target.service_id, [], signal)
}
