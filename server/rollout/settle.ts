import { isChartKind, isStackKind, isTaskKind } from '@quayside/contract/services/kinds.ts'
import { isFailed, phases, type RequestStatus, type State } from '@quayside/contract/states.ts'
import type { StateEvent } from '@quayside/contract/transitions.ts'
import type { Sql } from '../database/index.ts'
import { deleteCanary, findCanary, listServiceRoutes, setCanaryEndpoints, setEndpoints } from '../domains/index.ts'
import { liveEndpoints } from '../observations/index.ts'
import { leaveService, type TargetRow, updateTarget } from '../requests/index.ts'
import { findService } from '../services/index.ts'
import { CanceledError } from '../workflows/index.ts'
import { restoreChart } from './chart-end.ts'
import { drainOthers } from './drain.ts'
import { type Failure, isDiskFull, toFailure } from './failure.ts'
import { endJob } from './job-execution.ts'
import { setLastDeployment } from './outcome-store.ts'
import type { Recipe, ReportStep, Work } from './recipe.ts'
import { endStack } from './stack-ending.ts'

export interface Ended {
  readonly target: TargetRow
  readonly state: State
  readonly reason?: string
  readonly now: Date
}

/**
 * Records the end of one service: in the target, and in the service's state, which shows a waiting
 * request at once.
 */
export async function finishTarget(sql: Sql, { target, state, reason, now }: Ended): Promise<void> {
  const end = { state, status: statusOf(state), reason: reason ?? null, finished_at: now }
  await Promise.all([updateTarget(sql, target, end), leaveService(sql, target, { event: eventOf(state), state })])
}

function eventOf(state: State): StateEvent {
  if (state === 'CANCELED') return 'cancelled'
  return isFailed(state) ? 'ended badly' : 'ended well'
}

function statusOf(state: State): RequestStatus {
  if (state === 'CANCELED') return 'CANCELED'
  return isFailed(state) ? 'ERROR' : 'SUCCESS'
}

/**
 * Runs one phase of a service's part. If the phase fails for a reason of its own, this cleans up,
 * records the reason and returns false. Other errors concern the whole request and are thrown. A
 * part that already ended is not run again.
 */
export async function settle(options: Recipe, work: Work, phase: () => Promise<void>): Promise<boolean> {
  if (work.target.finished_at !== null) return work.target.status === 'SUCCESS'
  try {
    await phase()
    return true
  } catch (error) {
    const { aborted, reason } = work.context.signal
    if (aborted && !(reason instanceof CanceledError)) throw error
    if (isDiskFull(error)) options.onDiskFull?.()
    const failure = toFailure(aborted ? reason : error, phases[work.request.action].failed)
    if (!failure) throw error
    await fail(options, work, failure)
    return false
  }
}

const reportSteps: Partial<Record<State, ReportStep>> = {
  BUILD_ERROR: 'BuiltError',
  DEPLOYMENT_ERROR: 'DeployedError',
  RESTART_ERROR: 'RestartedError',
  STOP_ERROR: 'PausedError',
  DELETE_ERROR: 'DeletedError',
  CANCELED: 'Cancelled',
}

async function fail(options: Recipe, work: Work, failure: Failure): Promise<void> {
  const { target, step, context, report } = work
  const id = target.service_id
  report.enter(reportSteps[failure.state] ?? 'DeployedError')
  report.line(failure.reason, failure.state === 'CANCELED' ? 'warning' : 'error')
  for (const line of failure.lastLines) report.line(line, 'error')
  await step(`${id}/ROLLBACK`, ({ signal }) => removeNew(options, work, signal), {
    evenIfCanceled: true,
    // A stack may take long to end in order.
    deadlineSeconds: isStackKind(target.kind) ? 600 : 60,
  }).catch((error: unknown) => {
    // The observer finds by label and removes what is left.
    options.log.warn({ err: error, serviceId: id }, 'the remains of a failed deployment could not be removed yet')
  })
  const reason = [failure.reason, ...failure.lastLines].join('\n')
  await step(
    `${id}/FAIL`,
    async () => {
      const now = options.clock.now()
      await context.fenced(async (sql) => {
        await finishTarget(sql, { target, state: failure.state, reason, now })
        await deleteCanary(sql, id)
        await setLastDeployment(sql, id, now)
      })
    },
    { evenIfCanceled: true },
  )
}

/**
 * Ends the replicas of the failed version. Traffic that it already has goes back to the previous
 * version first.
 */
async function removeNew(options: Recipe, work: Work, signal: AbortSignal): Promise<void> {
  const { target, request, report } = work
  if (isStackKind(target.kind)) return endStack(options, work, signal)
  if (isTaskKind(target.kind)) return endJob(options, work, signal)
  if (isChartKind(target.kind)) return restoreChart(options, work, signal)
  if (request.action !== 'DEPLOY' && request.action !== 'RESTART') return
  const service = await findService(options.database, target.service_id)
  const keep = service?.release_id ?? undefined
  if (await returnTraffic(options, work, keep, signal)) {
    await drainOthers(options, report, { id: target.service_id, keep }, signal)
  }
  await options.engine.retire(target.service_id, keep, { signal, output: report })
}

/** Returns false if the new version never had requests. */
async function returnTraffic(
  options: Recipe,
  { target, context, request }: Work,
  keep: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const id = target.service_id
  const routes = await listServiceRoutes(options.database, id)
  const isShared = (await findCanary(options.database, id, request.id)) !== undefined
  if (!isShared && routes.every((route) => (route.release_id ?? undefined) === keep)) return false
  const endpoints = keep ? liveEndpoints(keep, await options.engine.observe(id, signal)) : []
  await context.fenced(async (sql) => {
    await setEndpoints(sql, id, keep ?? null, endpoints, options.clock.now())
    // The row stays until the end is written, so that a second try knows of the share.
    if (isShared) await setCanaryEndpoints(sql, id, [])
  })
  await options.routes.apply(signal)
  return true
}
