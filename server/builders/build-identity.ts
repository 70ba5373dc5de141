import { createHash } from 'node:crypto'
import { recipeHash } from './build-order.ts'
import type { BuildRecipe } from './builder.ts'
import { parseDockerfile } from './dockerfile.ts'

/**
 * Pure: what two builds have in common that may stand in for each other: repository, commit, paths,
 * stage, the arguments that the Dockerfile declares, build secrets by their keyed hash, and a
 * Dockerfile that is of the settings. Whose build it is, is no part of it; nor are limits, which
 * decide whether an image is made and not what is in it. Undefined where steps mount caches: what a
 * cache holds comes from other builds of its service.
 */
export function buildIdentity(recipe: BuildRecipe, repository: string): string | undefined {
  if (mountsCache(recipe.dockerfileText)) return undefined
  return createHash('sha256')
    .update(JSON.stringify(['v1', repository, recipeHash(recipe)]))
    .digest('hex')
}

/** Whether a step may mount a cache; what cannot be known before the build may be one. */
export function mountsCache(dockerfileText: string): boolean {
  const { instructions } = parseDockerfile(dockerfileText)
  return instructions.some((instruction) => (instruction.trigger ?? instruction).flags.some(mayMountCache))
}

/** Whether a flag may mount a cache. */
export const mayMountCache = (flag: string): boolean => /^--mount/i.test(flag) && /cache|\$/i.test(flag)
