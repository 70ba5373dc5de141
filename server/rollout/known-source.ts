import { type CommitJson, findDeployedRelease, type ReleaseRow } from '../releases/index.ts'
import { existingBuild, type SourceTexts } from './build-recipe.ts'
import type { Recipe } from './recipe.ts'
import { stackDockerfileOf } from './stack-dockerfile.ts'

/**
 * Returns commit and Dockerfile of a stack without fetching them. Its Dockerfile consists of its
 * settings unless they name a file, and its deployed version has the same commit with its details.
 * Undefined if the commit must be fetched.
 */
export async function knownSource(
  options: Pick<Recipe, 'database' | 'runnerImages'>,
  release: ReleaseRow,
  signal: AbortSignal,
): Promise<{ readonly commit: CommitJson; readonly texts: SourceTexts } | undefined> {
  const { stack } = existingBuild(release)
  if (!stack || stack.dockerfile_fragment?.type === 'file') return undefined
  const deployed = await findDeployedRelease(options.database, release.service_id)
  // A commit of another repository may have the same id, and its details are the same then.
  if (!deployed?.commit || deployed.commit.id !== release.commit?.id) return undefined
  const { branch: _, ...commit } = deployed.commit
  const noFile = { readFile: async () => undefined }
  return { commit, texts: { dockerfileText: await stackDockerfileOf(options, stack, noFile, signal) } }
}
