import type { Attempt } from '../lib/attempt.ts'
import { isTriedOnData, scratchRelease } from '../releases/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { haveImage } from './image-release.ts'
import { type RecipeOptions, recipeFor } from './recipe.ts'

/**
 * Starts the deployed version of a database on another volume, without public access, and waits
 * until it is healthy. The returned function returns false without such a version, and undefined
 * for a kind that is not tried.
 */
export const createScratchStarter =
  (options: RecipeOptions) =>
  async (
    service: ServiceRow,
    scratch: { readonly id: string; readonly volume: string },
    attempt: Attempt,
  ): Promise<boolean | undefined> => {
    if (!isTriedOnData(service)) return undefined
    const recipe = recipeFor(options, { engine: service.cluster_engine })
    const found = await scratchRelease(recipe, service, scratch)
    if (!found) return false
    await haveImage(recipe, service.organization_id, found.row, attempt)
    await recipe.engine.start(found.release, attempt)
    return true
  }
