import { EngineError } from '../engines/index.ts'
import {
  beginRun,
  endRun,
  endRunning,
  forgetRunsOf,
  insertRun,
  type JobEvent,
  listRunsOf,
  type RunEnd,
  runOfTry,
  runToEnd,
  takeOutputs,
} from '../jobs/index.ts'
import { newId } from '../lib/id.ts'
import { findLastRelease, memberOf, type ReleaseRow, runOf } from '../releases/index.ts'
import { enterState, updateTarget } from '../requests/index.ts'
import { findService } from '../services/index.ts'
import { haveImage } from './image-release.ts'
import { engineTask, jobAdvanced } from './job-release.ts'
import type { Recipe, Work } from './recipe.ts'

/** The limit for all tries together. Each try has its own limit too. */
const wholeSeconds = 30 * 24 * 3600

/** The command of a version for an event. */
interface Command {
  readonly release: ReleaseRow
  readonly event: JobEvent
  /** Called right before its program begins. */
  readonly whenBegun?: () => void
}

/**
 * Runs a version's command for an event, with the retries that its settings allow. Throws
 * EngineError with the reason when no try succeeds.
 */
export async function executeJob(options: Recipe, work: Work, command: Command): Promise<void> {
  const { target, step, report } = work
  const id = target.service_id
  report.enter('Executing')
  report.line(`Running its ${memberOf(command.event)}.`)
  const run = await step(`${id}/RUN`, async () => newId())
  await step(
    `${id}/EXECUTING`,
    async () => {
      const { reason, lastLines } = await execute(options, work, { ...command, run })
      if (reason !== null) throw new EngineError('crashed', reason, { lastLines })
    },
    { deadlineSeconds: wholeSeconds, rests: 'at once' },
  )
  report.line('It succeeded.')
}

interface Execution extends Command {
  readonly run: string
}

async function execute(options: Recipe, work: Work, execution: Execution): Promise<RunEnd> {
  const { run, release: row, event, whenBegun } = execution
  const { target, step, context, report, organizationId } = work
  await begin(options, work, execution)
  const { release, secrets } = await engineTask(options, organizationId, row, event)
  report.hide(secrets)
  options.collect(target.service_id, row.id, secrets)
  const { service: serviceId, environment: environmentId } = release
  const end = await runToEnd(
    options,
    {
      id: run,
      release,
      retries: row.kind === 'job' ? row.settings.max_nb_restart : 0,
      prefix: `${target.service_id}/`,
      untilTime: async () => whenBegun?.(),
      haveImage: (signal) => haveImage(options, organizationId, row, { signal, output: report }),
      // Nobody reads the outputs of a job that is about to be deleted.
      takeOutput: async (outcome) =>
        event === 'DELETE'
          ? undefined
          : takeOutputs(
              options,
              context.fenced,
              { serviceId, environmentId, organizationId },
              {
                outcome,
                output: report,
                collected: (more) => options.collect(serviceId, row.id, [...secrets, ...more]),
              },
            ),
      output: report,
    },
    { step, signal: context.signal },
  )
  if (!end) throw new Error(`run ${run} was never started`)
  await context.fenced(async (sql) => {
    const reason = end.reason && [end.reason, ...end.lastLines].join('\n')
    await endRun(sql, run, { ...end, status: reason ? 'ERROR' : 'SUCCESS', reason, now: options.clock.now() })
    await forgetRunsOf(sql, serviceId, jobAdvanced(row))
  })
  return end
}

/** Written once: a retry finds it. */
const begin = ({ clock }: Recipe, { target, context, request }: Work, execution: Execution): Promise<void> =>
  context.fenced(async (sql) => {
    const { run, release, event } = execution
    const now = clock.now()
    const change = { release_id: release.id }
    if (request.action === 'DEPLOY') await enterState(sql, target, 'EXECUTING', change)
    // The history shows the command before it has ended.
    else await updateTarget(sql, target, change)
    await insertRun(sql, {
      id: run,
      service_id: target.service_id,
      release_id: release.id,
      request_id: request.id,
      trigger: target.force_event ? 'FORCED' : 'DEPLOYMENT',
      event,
      scheduled_at: null,
      created_at: now,
    })
    await beginRun(sql, run, now)
  })

/**
 * Runs a job's command for its end. The version that was deployed last runs it, unless today's
 * settings no longer have such a command. A job that was never deployed, or is already uninstalled,
 * has nothing to undo.
 */
export async function executeEnding(
  options: Recipe,
  work: Work,
  action: 'STOP' | 'DELETE' | 'UNINSTALL',
): Promise<void> {
  const { target, report } = work
  const event = action === 'STOP' ? 'STOP' : 'DELETE'
  const service = await findService(options.database, target.service_id)
  if (service?.kind !== 'job' || service.settings.schedule.cronjob) return
  const release = await findLastRelease(options.database, service.id)
  const isGone = target.former_state === 'DELETED'
  if (release?.kind !== 'job' || isGone || !runOf(release.settings, event) || !runOf(service.settings, event)) {
    report.line(`It has no ${memberOf(event)}: nothing runs.`)
    return
  }
  await executeJob(options, work, { release, event })
}

/**
 * Ends the running containers of a job after its deployment failed or was cancelled, and records
 * its run as cancelled.
 */
export async function endJob(options: Recipe, { request, target, context, report }: Work, signal: AbortSignal) {
  const runs = await listRunsOf(options.database, target.service_id, request.id)
  const ids = new Set(runs.map(({ id }) => id))
  await endRunning(options, ({ run }) => ids.has(runOfTry(run)), { signal, output: report })
  const end = { status: 'CANCELED', reason: 'Its deployment was ended.', now: options.clock.now() } as const
  await context.fenced(async (sql) => {
    for (const id of ids) await endRun(sql, id, end)
  })
}
