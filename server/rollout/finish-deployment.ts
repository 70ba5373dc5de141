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
 * A frozen release, and the id of the one that has the traffic: the same, unless what runs was
 * kept.
 */
interface Deployed {
  readonly release: ReleaseRow
  readonly serving: string
}

/**
 * Step `FINISH`: writes that the service is deployed. Also runs if the request was cancelled
 * meanwhile.
 */
export async function finishDeployment(options: Recipe, work: Work, deployed: Deployed): Promise<void> {
  failpoint('finish.before')
  await work.step(`${work.target.service_id}/FINISH`, () => finish(options, work, deployed), { evenIfCanceled: true })
  failpoint('finish.after')
}

/** A release that was not needed is forgotten: what runs has its settings, variables and image. */
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
    // A copied database has taken its own password: it was asked with it.
    if (ownsItsFiles(release)) await deleteServiceSecret(sql, target.service_id, formerPasswordName)
    await leavePublicPort(sql, release)
    const wish = { id: target.service_id, release_id: release.id }
    await insertObservation(sql, wish, { state: 'running', release: release.id, replicas: [] }, now)
  })
  report.enter(request.action === 'RESTART' ? 'Restarted' : 'Deployed')
  report.line(isKept ? 'Nothing changed: the version that runs goes on, and nothing was restarted.' : 'It is up.')
}
