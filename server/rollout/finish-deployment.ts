import { failpoint } from '../lib/failpoint.ts'
import { insertObservation } from '../observations/index.ts'
import { deleteRelease, ownsItsFiles, type ReleaseRow } from '../releases/index.ts'
import { updateTarget } from '../requests/index.ts'
import { deleteServiceSecret, formerPasswordName } from '../services/index.ts'
import { leavePublicPort } from './database-place.ts'
import { setServing } from './outcome-store.ts'
import type { Recipe, Work } from './recipe.ts'
import { finishTarget } from './settle.ts'

/**
 * A frozen release, and the id of the release that has the traffic. They differ if the running
 * release was kept.
 */
interface Deployed {
  readonly release: ReleaseRow
  readonly serving: string
}

/** Step `FINISH`: records the service as deployed, even if the request was cancelled meanwhile. */
export async function finishDeployment(options: Recipe, work: Work, deployed: Deployed): Promise<void> {
  failpoint('finish.before')
  await work.step(`${work.target.service_id}/FINISH`, () => finish(options, work, deployed), { evenIfCanceled: true })
  failpoint('finish.after')
}

/**
 * Forgets the new release if it was not needed: the running one has its settings, variables and
 * image.
 */
async function finish(options: Recipe, work: Work, { release, serving }: Deployed): Promise<void> {
  const { request, target, context, report } = work
  const now = options.clock.now()
  const isKept = serving !== release.id
  const state = request.action === 'RESTART' ? 'RESTARTED' : 'DEPLOYED'
  await context.fenced(async (sql) => {
    await Promise.all([finishTarget(sql, { target, state, now }), setServing(sql, { ...release, id: serving }, now)])
    if (isKept) {
      await updateTarget(sql, target, { release_id: serving })
      return deleteRelease(sql, release.id)
    }
    // A copied database now uses its own password: the health check has used it.
    if (ownsItsFiles(release)) await deleteServiceSecret(sql, target.service_id, formerPasswordName)
    await leavePublicPort(sql, release)
    const wish = { id: target.service_id, release_id: release.id }
    await insertObservation(sql, wish, { state: 'running', release: release.id, replicas: [] }, now)
  })
  report.enter(request.action === 'RESTART' ? 'Restarted' : 'Deployed')
  report.line(isKept ? 'Nothing changed: the running version is kept, and nothing was restarted.' : 'It is up.')
}
