import { buildOf, isFetched } from '../releases/index.ts'
import { findService } from '../services/index.ts'
import { buildRelease } from './build-release.ts'
import { formerRelease, repeatRelease } from './copied-release.ts'
import { fetchRelease } from './image-release.ts'
import { plannedRelease } from './planned-release.ts'
import type { Recipe, Work } from './recipe.ts'

/**
 * Makes the release that a request deploys, with its image, and returns its id. A restart copies
 * the running release, a rollback copies an earlier one, and the apply of a shown plan copies its
 * version. Otherwise the image is fetched, or built from a repository.
 */
export async function makeRelease(options: Recipe, work: Work): Promise<string> {
  if (work.request.action === 'RESTART') return repeatRelease(options, work)
  const { wanted_release: former } = work.target
  if (former && work.target.stack_action === 'APPLY_PLAN') return plannedRelease(options, work, former)
  if (former) return formerRelease(options, work, former)
  if (isFetched(work.target.kind)) return fetchRelease(options, work)
  const service = await findService(options.database, work.target.service_id)
  return service && !buildOf(service) ? fetchRelease(options, work) : buildRelease(options, work)
}
