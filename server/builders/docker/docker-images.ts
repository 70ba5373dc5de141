import type Docker from 'dockerode'
import { type BuildOrder, recipeLabel, repositoryOf, serviceLabel } from '../build-order.ts'
import type { Image } from '../builder.ts'

/** The image of the order, by its tag. A tag without our label is somebody else's image and counts as absent. */
export async function findImage(docker: Docker, order: BuildOrder): Promise<Image | undefined> {
  const image = await inspect(docker, order.tag)
  if (!image || image.Config.Labels?.[recipeLabel] !== order.labels[recipeLabel]) return undefined
  return { reference: order.tag, digest: image.Id }
}

/** Whether the tag is there and stands for the same image. */
export const hasImage = async (docker: Docker, { reference, digest }: Image): Promise<boolean> =>
  (await inspect(docker, reference))?.Id === digest

async function inspect(docker: Docker, tag: string): Promise<Docker.ImageInspectInfo | undefined> {
  try {
    return await docker.getImage(tag).inspect()
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

/** Removes the tags of our images of a service except `keep` (references or digests), and the images with their last tag. */
export async function pruneImages(
  docker: Docker,
  service: string,
  keep: readonly string[],
  abortSignal: AbortSignal,
): Promise<void> {
  const prefix = `${repositoryOf(service)}:`
  const images = await docker.listImages({ filters: { label: [`${serviceLabel}=${service}`] }, abortSignal })
  for (const image of images) {
    if (keep.includes(image.Id)) continue
    for (const tag of image.RepoTags ?? []) {
      if (tag.startsWith(prefix) && !keep.includes(tag)) await removeTag(docker, tag, abortSignal)
    }
  }
}

async function removeTag(docker: Docker, tag: string, abortSignal: AbortSignal): Promise<void> {
  try {
    await docker.getImage(tag).remove({ abortSignal })
  } catch (error) {
    // Gone already, or a container still uses it: then the next time removes it.
    if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error
  }
}

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
