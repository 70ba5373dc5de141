import { outcomeEvents } from '@quayside/contract/resources/organization-event.ts'
import { type Action, isAtRest, phases } from '@quayside/contract/states.ts'
import { type Outcome, recordOutcome } from '../audit/index.ts'
import type { Sql } from '../database/index.ts'
import { recordDeploymentEvent } from '../events/index.ts'
import { deleteEnvironmentRow, findEnvironment } from '../organizations/index.ts'
import { findService } from '../services/index.ts'
import { CanceledError, type RunContext, type Step, type Workflow } from '../workflows/index.ts'
import { buildRelease, repeatRelease } from './build-release.ts'
import { endService, removeLines } from './end-service.ts'
import { fetchRelease } from './image-release.ts'
import { hasServices, startTargets } from './outcome-store.ts'
import { createReport, type RecipeOptions, type Work } from './recipe.ts'
import { refusalOf } from './refusal-of-kind.ts'
import { deploymentWorkflow } from './request.ts'
import { findRequest, type RequestRow, setRequestStatus } from './request-store.ts'
import { finishTarget, leaveService, settle } from './settle.ts'
import { retireFormer, startRelease } from './start-release.ts'
import { listTargets, updateTarget } from './target-store.ts'
import { buildOf } from './versioned.ts'

interface Input {
  readonly requestId: string
  readonly [key: string]: string
}

/**
 * The recipe of every deployment request: begin → stage by stage, first all builds, then all starts → end. Its steps are
 * journalled, and the journal is the history that the API answers.
 */
export function createDeploymentWorkflow(options: RecipeOptions): Workflow<Input> {
  return {
    name: deploymentWorkflow,
    run: (input, step, context) => runRequest(options, input.requestId, step, context),
    abandoned: (input, reason, sql) => abandon(options, input.requestId, reason, sql),
  }
}

async function runRequest(options: RecipeOptions, requestId: string, step: Step, context: RunContext): Promise<void> {
  await step('BEGIN', () => context.fenced((sql) => begin(sql, requestId, options)), { evenIfCanceled: true })
  const request = await findRequest(options.database, requestId)
  if (!request) return
  const environment = await findEnvironment(options.database, request.environment_id)
  if (!environment) return
  const works = (await listTargets(options.database, [requestId])).map(
    (target): Work => ({
      request,
      target,
      organizationId: environment.organization_id,
      step,
      context,
      report: createReport(options.lines, request.execution_id, target),
    }),
  )
  const refused = await leaveOut(options, works)
  const complete = await runStages(options, stagesOf(works.filter((work) => !refused.has(work))))
  await step('END', () => context.fenced((sql) => endRequest(sql, requestId, complete, options)), {
    evenIfCanceled: true,
  })
  await options.lines.flush()
  await step('ENVIRONMENT', ({ signal }) => removeEnvironment(options, context, request, signal), {
    evenIfCanceled: true,
    deadlineSeconds: 120,
  })
}

/** Services of kinds that the cluster cannot run are skipped, with the reason; they keep nothing else from being deployed. */
async function leaveOut(options: RecipeOptions, works: readonly Work[]): Promise<ReadonlySet<Work>> {
  const refused = new Set<Work>()
  for (const work of works) {
    if (work.request.action !== 'DEPLOY') continue
    const service = await findService(options.database, work.target.service_id)
    const reason = service && refusalOf(service)
    if (!reason) continue
    work.report.line(reason, 'warning')
    await skip(options, work, reason)
    refused.add(work)
  }
  return refused
}

async function begin(sql: Sql, requestId: string, { clock }: RecipeOptions): Promise<void> {
  const request = await findRequest(sql, requestId)
  if (!request) return
  const now = clock.now()
  if (request.status === 'QUEUED') await setRequestStatus(sql, requestId, 'ONGOING', now)
  await startTargets(sql, requestId, now)
  if (request.action === 'DEPLOY') await recordDeploymentEvent(sql, 'DEPLOYMENT_STARTED', requestId, now)
}

/** Stages in the order in which they act: what is ended goes the other way round. */
function stagesOf(works: readonly Work[]): Work[][] {
  const stages = [...Map.groupBy(works, ({ target }) => target.stage_order)].sort(([a], [b]) => a - b)
  const action = works[0]?.request.action
  if (action !== 'DEPLOY' && action !== 'RESTART') stages.reverse()
  return stages.map(([, members]) => members)
}

/** False when something failed; then what comes later is left as it was. */
async function runStages(options: RecipeOptions, stages: readonly Work[][]): Promise<boolean> {
  let healthy = true
  for (const stage of stages) {
    if (healthy) healthy = await runStage(options, stage)
    else await Promise.all(stage.map((work) => skip(options, work)))
  }
  return healthy
}

async function runStage(options: RecipeOptions, stage: readonly Work[]): Promise<boolean> {
  const action = stage[0]?.request.action
  if (action !== 'DEPLOY' && action !== 'RESTART') {
    const ended = stage.map(async (work) => {
      const isEnded = await settle(options, work, () => endService(options, work, work.request.action as Ending))
      if (isEnded) await removeLines(options, work)
      return isEnded
    })
    return (await everyOne(ended)).every(Boolean)
  }
  const prepare = action === 'DEPLOY' ? newRelease : repeatRelease
  const releases = new Map<Work, string>()
  const isBuilt = async (work: Work): Promise<boolean> =>
    settle(options, work, async () => {
      releases.set(work, await prepare(options, work))
    })
  const isStarted = async (work: Work): Promise<boolean> => {
    const release = releases.get(work)
    const isUp = await settle(options, work, async () => {
      if (release) await startRelease(options, work, release)
    })
    if (isUp) await retireFormer(options, work)
    return isUp
  }
  const built = await everyOne(stage.map(async (work) => ({ work, isBuilt: await isBuilt(work) })))
  const ready = built.filter((one) => one.isBuilt).map(({ work }) => work)
  const started = await everyOne(ready.map(isStarted))
  return ready.length === stage.length && started.every(Boolean)
}

/** Rejects only when nothing of it runs any more: what runs on would meet its own repetition. */
async function everyOne<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work)
  return Promise.all(work)
}

async function newRelease(options: RecipeOptions, work: Work): Promise<string> {
  const service = await findService(options.database, work.target.service_id)
  return service && !buildOf(service) ? fetchRelease(options, work) : buildRelease(options, work)
}

type Ending = 'STOP' | 'DELETE' | 'UNINSTALL'

/** An earlier stage failed, the request was cancelled before this service's turn, or the cluster cannot run it. */
async function skip({ clock }: RecipeOptions, { target, step, context }: Work, reason?: string): Promise<void> {
  const canceled = context.signal.aborted && context.signal.reason instanceof CanceledError
  await step(
    `${target.service_id}/SKIP`,
    () =>
      context.fenced(async (sql) => {
        const now = clock.now()
        if (canceled) return finishTarget(sql, { target, state: 'CANCELED', now })
        const left = { state: target.former_state, status: 'SKIPPED' as const, finished_at: now }
        await updateTarget(sql, target, { ...left, ...(reason === undefined ? {} : { reason }) })
        await leaveService(sql, target, target.former_state)
      }),
    { evenIfCanceled: true },
  )
}

async function endRequest(
  sql: Sql,
  requestId: string,
  complete: boolean,
  { clock, log }: RecipeOptions,
): Promise<void> {
  const request = await findRequest(sql, requestId)
  if (!request) return
  const targets = await listTargets(sql, [requestId])
  const canceled = targets.some((target) => target.status === 'CANCELED')
  const status = complete ? 'SUCCESS' : canceled ? 'CANCELED' : 'ERROR'
  const now = clock.now()
  const { action, execution_id: executionId, environment_id: environmentId } = request
  log.info({ requestId, executionId, environmentId, action, status }, 'deployment request ended')
  await setRequestStatus(sql, requestId, status, now)
  await recordOutcome(sql, requestId, outcomesOf(action), now)
  if (request.action === 'DEPLOY') await recordDeploymentEvent(sql, eventOf[status], requestId, now)
}

/** What the record of changes calls the ends of the services' parts; of cancelled ones the cancelling itself tells. */
function outcomesOf(action: Action): readonly Outcome[] {
  const [well, badly] = outcomeEvents[action]
  return [
    { status: 'SUCCESS', event: well },
    { status: 'ERROR', event: badly },
  ]
}

const eventOf = {
  SUCCESS: 'DEPLOYMENT_SUCCESSFUL',
  CANCELED: 'DEPLOYMENT_CANCELLED',
  ERROR: 'DEPLOYMENT_FAILURE',
} as const

/** The last service of an environment that is to be deleted takes the environment with it. */
async function removeEnvironment(
  options: RecipeOptions,
  context: RunContext,
  request: RequestRow,
  signal: AbortSignal,
): Promise<void> {
  if (request.action !== 'DELETE') return
  const environment = await findEnvironment(options.database, request.environment_id)
  if (await hasServices(options.database, request.environment_id)) return
  await options.engine.eraseEnvironment(request.environment_id, { signal, output: { line: () => {} } })
  if (environment?.deleting) await context.fenced((sql) => deleteEnvironmentRow(sql, request.environment_id))
}

/** The workflow gave up: every service that is still under way ends in error, with the reason. */
async function abandon({ clock }: RecipeOptions, requestId: string, reason: string, sql: Sql): Promise<void> {
  const request = await findRequest(sql, requestId)
  if (!request) return
  const now = clock.now()
  for (const target of await listTargets(sql, [requestId])) {
    if (target.finished_at !== null && isAtRest(target.state)) continue
    const text = `The deployment could not go on (${reason}); deploy again.`
    await finishTarget(sql, { target, state: phases[request.action].failed, reason: text, now })
  }
  await setRequestStatus(sql, requestId, 'ERROR', now)
  await recordOutcome(sql, requestId, outcomesOf(request.action), now)
  if (request.action === 'DEPLOY') await recordDeploymentEvent(sql, 'DEPLOYMENT_FAILURE', requestId, now)
}
