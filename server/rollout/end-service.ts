import { isChartKind, isStackKind, isTaskKind } from '@quayside/contract/services/kinds.ts'
import { phases } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import { replaceHosts, setEndpoints } from '../domains/index.ts'
import { EngineError } from '../engines/index.ts'
import { endRunning, endTimetable } from '../jobs/index.ts'
import { serviceStream } from '../logs/index.ts'
import { enterState } from '../requests/index.ts'
import { deleteServiceRow, lockService, setDataVersion } from '../services/index.ts'
import { endChart } from './chart-end.ts'
import { drainOthers } from './drain.ts'
import { executeEnding } from './job-execution.ts'
import { setLastDeployment, setServingNothing } from './outcome-store.ts'
import { explainLate, type Recipe, type ReportStep, type Work, whileUnreachable } from './recipe.ts'
import { finishTarget } from './settle.ts'
import { destroyStack } from './stack-ending.ts'

const routerSeconds = 120
/** Covers draining and the time that an application has to stop. */
const endSeconds = 300

const words: Record<'STOP' | 'DELETE' | 'UNINSTALL', { working: ReportStep; done: ReportStep; line: string }> = {
  STOP: { working: 'Pause', done: 'Paused', line: 'It is stopped; its volumes are kept.' },
  DELETE: { working: 'Delete', done: 'Deleted', line: 'It is deleted.' },
  UNINSTALL: {
    working: 'Delete',
    done: 'Deleted',
    line: 'It is uninstalled, its volumes with it; its settings are kept.',
  },
}

/**
 * Stops, uninstalls or deletes a service: first its traffic, then its replicas, then (except for a
 * stop) volumes and images.
 */
export async function endService(options: Recipe, work: Work, action: 'STOP' | 'DELETE' | 'UNINSTALL'): Promise<void> {
  const { target, step, context, report } = work
  const id = target.service_id
  const { done } = phases[action]
  // From here on a cancel has no effect: lost traffic, and perhaps lost data, cannot be restored.
  context.signal.throwIfAborted()
  report.enter(words[action].working)
  if (isStackKind(target.kind)) await destroyStack(options, work, action)
  else if (isTaskKind(target.kind)) await executeEnding(options, work, action)
  await explainLate(
    step(`${id}/ROUTER_DEPLOYMENT`, ({ signal }) => unpublish(options, work, action, signal), {
      deadlineSeconds: routerSeconds,
      evenIfCanceled: true,
    }),
    () =>
      new EngineError('unreachable', `The router did not accept the new routes within ${routerSeconds} s. Try again.`),
  )
  await explainLate(
    step(`${id}/DEPLOYMENT`, ({ signal }) => end(options, work, action, signal), {
      deadlineSeconds: endSeconds,
      evenIfCanceled: true,
    }),
    () => new EngineError('unreachable', `The engine had not ended it after ${endSeconds} s. Try again.`),
  )
  await step(
    `${id}/FINISH`,
    () =>
      context.fenced(async (sql) => {
        const now = options.clock.now()
        await finishTarget(sql, { target, state: done, now })
        if (action === 'DELETE') await deleteService(sql, id, now)
        else await setLastDeployment(sql, id, now)
        if (action === 'UNINSTALL') await setDataVersion(sql, id, null)
      }),
    { evenIfCanceled: true },
  )
  report.enter(words[action].done)
  report.line(words[action].line)
}

/**
 * Removes the lines of a deleted service; may be repeated. A failure changes nothing: the service
 * is already gone.
 */
export async function removeLines({ lines, log }: Recipe, { request, target }: Work): Promise<void> {
  if (request.action !== 'DELETE') return
  const stream = serviceStream(target.service_id)
  await lines.remove(stream).catch((error: unknown) => {
    const said = 'lines of a deleted service could not be removed; remove this directory below logs/ by hand'
    log.warn({ err: error, directory: stream }, said)
  })
}

/** Deletes the service with its host names, so the router forgets them at once. */
async function deleteService(sql: Sql, id: string, now: Date): Promise<void> {
  await replaceHosts(sql, id, [], now)
  await deleteServiceRow(sql, id)
}

/** Takes the service off the router and off the list of services that must run. */
async function unpublish(
  options: Recipe,
  { target, context, report }: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
  signal: AbortSignal,
): Promise<void> {
  const id = target.service_id
  await context.fenced(async (sql) => {
    await lockService(sql, id)
    await enterState(sql, target, phases[action].working)
    await setEndpoints(sql, id, null, [], options.clock.now())
    await setServingNothing(sql, id)
    if (isTaskKind(target.kind)) await endTimetable(sql, options, id)
  })
  await whileUnreachable(options, signal, report, () => options.routes.apply(signal))
}

async function end(
  options: Recipe,
  work: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
  signal: AbortSignal,
): Promise<void> {
  const { target, report } = work
  const { engine, builder } = options
  await options.endRepair(target.service_id)
  if (isChartKind(target.kind)) return endChart(options, work, action, signal)
  await drainOthers(options, report, { id: target.service_id, keep: undefined }, signal)
  const attempt = { signal, output: report }
  // The ended runs of a job stay until their lines are collected.
  if (isTaskKind(target.kind) && action !== 'DELETE')
    await whileUnreachable(options, signal, report, () =>
      endRunning(options, ({ service }) => service === target.service_id, attempt),
    )
  else
    await whileUnreachable(options, signal, report, () =>
      action === 'STOP'
        ? engine.retire(target.service_id, undefined, attempt)
        : engine.erase(target.service_id, attempt),
    )
  if (action !== 'STOP') await builder.prune(target.service_id, [], signal)
}
