import { isLongRunningKind } from '@quayside/contract/services/kinds.ts'
import type { Release } from '../engines/index.ts'
import { engineRelease, findRelease } from '../releases/index.ts'
import { listServices } from '../services/index.ts'
import type { Recipe } from './recipe.ts'

/**
 * Returns the releases of an environment that serve now, as the engine takes them. Jobs have none:
 * each of their runs is written separately. Helm has those of charts.
 */
export async function runningReleases(recipe: Recipe, environmentId: string): Promise<Release[]> {
  const releases: Release[] = []
  for (const service of await listServices(recipe.database, environmentId)) {
    const { kind, release_id, organization_id } = service
    if (release_id === null || !isLongRunningKind(kind)) continue
    const row = await findRelease(recipe.database, release_id)
    if (row) releases.push((await engineRelease(recipe, organization_id, row)).release)
  }
  return releases
}
