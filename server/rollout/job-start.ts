import { followTimetable } from '../jobs/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { eventOfDeployment, findRelease, memberOf, type ReleaseRow, runOf } from '../releases/index.ts'
import { updateTarget } from '../requests/index.ts'
import { tellIdleSettings } from './idle-settings.ts'
import { executeJob } from './job-execution.ts'
import { setServing } from './outcome-store.ts'
import type { Recipe, Work } from './recipe.ts'
import { finishTarget } from './settle.ts'
import { startInTurn } from './turn.ts'

/**
 * Deploys the release of a job that has its image. A lifecycle job first runs its `on_start` to the
 * end. A cron job runs by its timetable from then on. A forced event runs once.
 */
export async function startJob(options: Recipe, work: Work, releaseId: string): Promise<void> {
  const { request, target, step, report } = work
  const release = await findRelease(options.database, releaseId)
  if (release?.kind !== 'job') throw new Error(`release ${releaseId} is gone, or not of a job`)
  tellIdleSettings(options.engine, work, release)
  if (request.action === 'RESTART') {
    report.enter('Restart')
    report.line('It runs only by its events and its timetable. Nothing is restarted.')
  } else {
    await runEvent(options, work, release)
  }
  failpoint('finish.before')
  await step(`${target.service_id}/FINISH`, () => finish(options, work, release), { evenIfCanceled: true })
  failpoint('finish.after')
}

async function runEvent(options: Recipe, work: Work, release: ReleaseRow & { kind: 'job' }): Promise<void> {
  const { target, report } = work
  const event = target.force_event ?? eventOfDeployment(release.settings)
  if (event === undefined) return
  if (!runOf(release.settings, event)) {
    report.enter('Deploy')
    report.line(`It has no ${memberOf(event)}: nothing runs.`)
    return
  }
  // Its slot is for the start. The run may take days.
  await startInTurn(options, work, (leave) => executeJob(options, work, { release, event, whenBegun: leave }))
}

async function finish(options: Recipe, work: Work, release: ReleaseRow & { kind: 'job' }): Promise<void> {
  const { request, target, context, report } = work
  const now = options.clock.now()
  const { cronjob } = release.settings.schedule
  const current = await findRelease(options.database, release.id)
  const restarts = request.action === 'RESTART'
  await context.fenced(async (sql) => {
    await finishTarget(sql, { target, state: restarts ? 'RESTARTED' : 'DEPLOYED', now })
    // A version that runs nothing at its deployment can still be rolled back to.
    await updateTarget(sql, target, { release_id: release.id })
    await setServing(sql, { ...release, commit: current?.commit ?? release.commit }, now)
    const version = { serviceId: target.service_id, releaseId: release.id, now }
    if (cronjob) await followTimetable(sql, version, cronjob)
  })
  report.enter(restarts ? 'Restarted' : 'Deployed')
  report.line(cronjob ? `It runs at "${cronjob.scheduled_at}" (${cronjob.timezone}).` : 'It is deployed.')
}
