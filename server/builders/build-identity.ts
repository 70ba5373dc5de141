import { createHash } from 'node:crypto'
import { recipeHash } from './build-order.ts'
import type { BuildRecipe } from './builder.ts'
import { parseDockerfile } from './dockerfile.ts'
import { flagsOf } from './image-references.ts'

/**
 * Pure: what two builds have in common that may stand in for each other: repository, commit, paths, stage, the arguments that the Dockerfile declares,
 * build secrets by their keyed hash, and a Dockerfile that is of the settings. Whose build it is, is no part of it; nor are limits, which decide
 * whether an image is made and not what is in it. Undefined where steps mount caches: what a cache holds comes from other builds of its service.
 */
export function buildIdentity(recipe: BuildRecipe, repository: string): string | undefined {
  if (mountsCache(recipe.dockerfileText)) return undefined
  return createHash('sha256')
    .update(JSON.stringify(['v1', repository, recipeHash(recipe)]))
    .digest('hex')
}

/** Whether a step may mount a cache; where that cannot be told, it may. */
export function mountsCache(dockerfileText: string): boolean {
  // A builder that does not know heredocs takes their body for instructions.
  const readings = [true, false].flatMap((heredocs) => parseDockerfile(dockerfileText, { heredocs }))
  return readings.some(({ keyword, rest }) => {
    const step = keyword === 'ONBUILD' ? rest.replace(/^\S+\s+/, '') : rest
    return flagsOf(step).some((flag) => /^--mount/i.test(flag) && /cache|\$/i.test(flag))
  })
}
