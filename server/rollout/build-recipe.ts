import { type BuildRecipe, ignoreFileNames } from '../builders/index.ts'
import type { Checkout } from '../git/index.ts'
import { withoutEnds } from '../lib/trim.ts'
import {
  type Build,
  buildLimitsOf,
  buildOf,
  isBuiltWithoutCache,
  type ReleaseRow,
  type Versioned,
} from '../releases/index.ts'
import { buildSecretsOf } from './build-secrets.ts'
import type { Recipe, Work } from './recipe.ts'

/** Returns how a version is built. Throws for a kind that is not built. */
export function existingBuild(versioned: Versioned): Build {
  const build = buildOf(versioned)
  if (!build) throw new Error(`a ${versioned.kind} is not built from a repository`)
  return build
}

/** Returns the build context's path in the repository. '' is the root. */
export const contextPath = (release: ReleaseRow): string =>
  withoutEnds(existingBuild(release).repository.root_path, '/')

/** The files of the commit that a recipe depends on. */
export type SourceTexts = Pick<BuildRecipe, 'dockerfileText' | 'ignoreFile'>

/** Reads the ignore file that Docker would use for this Dockerfile. */
export async function readIgnoreFileOf(
  checkout: Pick<Checkout, 'readFile'>,
  release: ReleaseRow,
  signal: AbortSignal,
): Promise<Pick<SourceTexts, 'ignoreFile'>> {
  const rootPath = contextPath(release)
  for (const path of ignoreFileNames(existingBuild(release).dockerfilePath)) {
    const content = await checkout.readFile(rootPath === '' ? path : `${rootPath}/${path}`, signal)
    if (content) return { ignoreFile: { path, text: content.toString() } }
  }
  return {}
}

/** Returns everything that the image of a version depends on, except its secrets. */
export function plainRecipe(
  { buildLimits }: Pick<Recipe, 'buildLimits'>,
  release: ReleaseRow,
  { dockerfileText, ignoreFile }: SourceTexts,
): BuildRecipe {
  const { targetStage: stage, dockerfileRaw, dockerfilePath } = existingBuild(release)
  return {
    service: release.service_id,
    commit: release.commit?.id ?? '',
    rootPath: contextPath(release),
    dockerfile: dockerfilePath,
    ...(stage ? { targetStage: stage } : {}),
    ...(dockerfileRaw === null ? {} : { hasOwnDockerfile: true }),
    dockerfileText,
    ...(ignoreFile ? { ignoreFile } : {}),
    variables: release.variables.variables,
    ...(isBuiltWithoutCache(release.advanced_settings) ? { ignoresCache: true } : {}),
    limits: buildLimitsOf(buildLimits, release.advanced_settings),
  }
}

/**
 * Returns the recipe with its secrets, which the log masks from now on. Throws BuildError for a
 * missing secret.
 */
export async function wholeRecipe(
  options: Recipe,
  work: Work,
  release: ReleaseRow,
  texts: SourceTexts,
): Promise<BuildRecipe> {
  const secrets = await buildSecretsOf(options, work.organizationId, release)
  work.report.hide(Object.values(secrets.secrets ?? {}))
  return { ...plainRecipe(options, release, texts), organization: work.organizationId, ...secrets }
}
