import type { ReleaseOpener } from '../observations/index.ts'
import { engineRelease, findRelease } from '../releases/index.ts'
import { haveImage } from './image-release.ts'
import type { Recipe } from './recipe.ts'

/** Opens releases of one cluster for those who start them again or follow their lines. */
export const createReleaseOpener = (recipe: Recipe): ReleaseOpener => ({
  open: async (organizationId, releaseId) => {
    const row = await findRelease(recipe.database, releaseId)
    if (!row) return undefined
    const { release, secrets } = await engineRelease(recipe, organizationId, row)
    return { release, secrets, haveImage: (attempt) => haveImage(recipe, organizationId, row, attempt) }
  },
})
