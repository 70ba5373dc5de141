import { createHash } from 'node:crypto'
import { recipeHash } from './build-order.ts'
import type { BuildRecipe } from './builder.ts'
import { parseDockerfile } from './dockerfile.ts'

/**
 * Pure: returns a key that is equal for builds whose images are interchangeable. It covers
 * repository, commit, paths, stage, declared arguments, the keyed hash of build secrets, and a
 * Dockerfile from the settings. It leaves out the owner. It leaves out limits too, because they
 * decide only whether the build succeeds. Undefined if a step mounts a cache: other builds of the
 * same service fill it.
 */
export function buildIdentity(recipe: BuildRecipe, repository: string): string | undefined {
  if (mountsCache(recipe.dockerfileText)) return undefined
  return createHash('sha256')
    .update(JSON.stringify(['v1', repository, recipeHash(recipe)]))
    .digest('hex')
}

/** Whether a step may mount a cache. A value unknown before the build counts as a cache. */
export function mountsCache(dockerfileText: string): boolean {
  const { instructions } = parseDockerfile(dockerfileText)
  return instructions.some((instruction) => (instruction.trigger ?? instruction).flags.some(mayMountCache))
}

/** Whether a flag may mount a cache. */
export const mayMountCache = (flag: string): boolean => /^--mount/i.test(flag) && /cache|\$/i.test(flag)
