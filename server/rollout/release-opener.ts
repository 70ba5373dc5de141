import type { ReleaseOpener } from '../observations/index.ts'
import { engineRelease, findRelease, openVariables } from '../releases/index.ts'
import { haveImage } from './image-release.ts'
import type { Recipe } from './recipe.ts'

/** Returns a function that opens releases of one cluster, for starts and for collecting lines. */
export const createReleaseOpener = (recipe: Recipe): ReleaseOpener => ({
  open: async (organizationId, releaseId) => {
    const row = await findRelease(recipe.database, releaseId)
    if (!row) return undefined
    const { release, secrets } = await engineRelease(recipe, organizationId, row)
    return { release, secrets, haveImage: (attempt) => haveImage(recipe, organizationId, row, attempt) }
  },
  secretsOf: async (organizationId, releaseId) => {
    const row = await findRelease(recipe.database, releaseId)
    return row ? (await openVariables(recipe.database, recipe.vault, organizationId, row)).secrets : []
  },
})
