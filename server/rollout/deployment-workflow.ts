import { isAtRest, phases } from '@quayside/contract/states.ts'
import { recordOutcome } from '../audit/index.ts'
import type { Sql } from '../database/index.ts'
import { deleteEnvironmentRow, engineOfEnvironment, findEnvironment } from '../organizations/index.ts'
import {
  deploymentWorkflow,
  findRequest,
  heldByCopies,
  listTargets,
  outcomesOf,
  type RequestRow,
  setRequestStatus,
  type TargetRow,
  unfinishedRequests,
} from '../requests/index.ts'
import { recordDeploymentEvent } from '../webhooks/index.ts'
import type { RunContext, Step, Workflow } from '../workflows/index.ts'
import { hasServices, placeTargets } from './outcome-store.ts'
import { createReport, type Recipe, type RecipeOptions, recipeFor, type Work } from './recipe.ts'
import { runStages } from './run-stages.ts'
import { finishTarget } from './settle.ts'

interface Input {
  readonly requestId: string
  readonly [key: string]: string
}

/**
 * The recipe of every deployment request: begin, then each stage (all builds, then all starts),
 * then end. Its steps are journalled, and the API reads the history from this journal.
 */
export function createDeploymentWorkflow(options: RecipeOptions): Workflow<Input> {
  return {
    name: deploymentWorkflow,
    run: (input, step, context) => runRequest(options, input.requestId, step, context),
    abandoned: (input, reason, sql) => abandon(options, input.requestId, reason, sql),
    unfinished: unfinishedRequests,
    heldBack: heldByCopies,
  }
}

async function runRequest(all: RecipeOptions, requestId: string, step: Step, context: RunContext): Promise<void> {
  const begun = () => context.fenced((sql) => begin(sql, requestId, all))
  // Earlier server versions recorded nothing in these steps.
  const ended = (await step('BEGIN', begun, { evenIfCanceled: true })) ?? []
  const request = await findRequest(all.database, requestId)
  if (!request) return
  const environment = await findEnvironment(all.database, request.environment_id)
  if (!environment) return
  const options = recipeFor(all, { engine: await engineOfEnvironment(all.database, environment.id) })
  const [over, open] = partition(await listTargets(options.database, [requestId]), ended)
  const works = open.map(
    (target): Work => ({
      request,
      target,
      organizationId: environment.organization_id,
      step,
      context,
      report: createReport(options.lines, request.execution_id, target),
    }),
  )
  const isFailed = over.some(({ status }) => status === 'ERROR')
  const complete = (await runStages(options, works)) && !isFailed
  await step('END', () => context.fenced((sql) => endRequest(sql, requestId, complete, options)), {
    evenIfCanceled: true,
  })
  options.whenEnded?.()
  await keepLines(options, requestId)
  await step('ENVIRONMENT', ({ signal }) => removeEnvironment(options, context, request, signal), {
    evenIfCanceled: true,
    deadlineSeconds: 120,
  })
}

/** Pure: splits targets into those of these services and all others. */
function partition(targets: readonly TargetRow[], services: readonly string[]): [TargetRow[], TargetRow[]] {
  const isNamed = ({ service_id }: TargetRow): boolean => services.includes(service_id)
  return [targets.filter(isNamed), targets.filter((target) => !isNamed(target))]
}

/**
 * Begins a request. Returns the services whose part ended while it waited: copies that were
 * deleted.
 */
async function begin(sql: Sql, requestId: string, { clock }: RecipeOptions): Promise<string[]> {
  const request = await findRequest(sql, requestId)
  if (!request) return []
  const now = clock.now()
  if (request.status === 'QUEUED') await setRequestStatus(sql, requestId, 'ONGOING', now)
  await placeTargets(sql, requestId)
  if (request.action === 'DEPLOY') await recordDeploymentEvent(sql, 'DEPLOYMENT_STARTED', requestId, now)
  const targets = await listTargets(sql, [requestId])
  return targets.filter(({ finished_at }) => finished_at !== null).map(({ service_id }) => service_id)
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

const eventOf = {
  SUCCESS: 'DEPLOYMENT_SUCCESSFUL',
  CANCELED: 'DEPLOYMENT_CANCELLED',
  ERROR: 'DEPLOYMENT_FAILURE',
} as const

/** The end is already written. A disk that rejects log lines does not change it. */
const keepLines = ({ lines, log }: RecipeOptions, requestId: string): Promise<void> =>
  lines.flush().catch((error: unknown) => {
    log.warn({ err: error, requestId }, 'lines of a deployment could not be written; the write is retried')
  })

/** Deletes the environment after its last service if the request asks for that. */
async function removeEnvironment(
  options: Recipe,
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

/**
 * Handles a failed workflow: every unfinished service ends in error, with the reason. A finished
 * request is unchanged.
 */
async function abandon({ clock, log }: RecipeOptions, requestId: string, reason: string, sql: Sql): Promise<void> {
  const request = await findRequest(sql, requestId)
  if (!request) return
  if (request.finished_at !== null) {
    const said =
      'a deployment request had ended when its workflow failed; where its environment was to go, delete it again'
    log.error({ requestId, environmentId: request.environment_id, reason }, said)
    return
  }
  const now = clock.now()
  for (const target of await listTargets(sql, [requestId])) {
    if (target.finished_at !== null && isAtRest(target.state)) continue
    const text = `The deployment could not continue (${reason}); deploy again.`
    await finishTarget(sql, { target, state: phases[request.action].failed, reason: text, now })
  }
  await setRequestStatus(sql, requestId, 'ERROR', now)
  await recordOutcome(sql, requestId, outcomesOf(request.action), now)
  if (request.action === 'DEPLOY') await recordDeploymentEvent(sql, 'DEPLOYMENT_FAILURE', requestId, now)
}
