import type Docker from 'dockerode'
import { type BuildOrder, recipeLabel, repositoryOf } from '../build-order.ts'
import type { Image, Promoted } from '../builder.ts'

/** The image of the order, by its tag. A tag without our label is somebody else's image and counts as absent. */
export async function findImage(docker: Docker, order: BuildOrder): Promise<Image | undefined> {
  const image = await inspectImage(docker, order.tag)
  if (!image || image.Config.Labels?.[recipeLabel] !== order.labels[recipeLabel]) return undefined
  return { reference: order.tag, digest: image.Id }
}

/** Whether the tag is there and stands for the same image. */
export const hasImage = async (docker: Docker, { reference, digest }: Image): Promise<boolean> =>
  (await inspectImage(docker, reference))?.Id === digest

/** Tags an image that was built by the same recipe for the order's service, too. Each service takes its own tags away, and the last one takes the image. */
export async function promoteImage(docker: Docker, digest: string, order: BuildOrder): Promise<Promoted | undefined> {
  const image = await inspectImage(docker, digest)
  if (!image || image.Config.Labels?.[recipeLabel] !== order.labels[recipeLabel]) return undefined
  const [repo = '', tag = ''] = order.tag.split(':')
  try {
    await docker.getImage(image.Id).tag({ repo, tag })
  } catch (error) {
    // It went in between.
    if (statusOf(error) === 404) return undefined
    throw error
  }
  return { reference: order.tag, digest: image.Id, builtAt: new Date(image.Created) }
}

/** What an image takes with all that it begins with, in bytes. */
export const sizeOf = async (docker: Docker, id: string): Promise<number> => (await docker.getImage(id).inspect()).Size

export async function inspectImage(docker: Docker, tag: string): Promise<Docker.ImageInspectInfo | undefined> {
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
  // By name: the label of one that was promoted tells for whom it was built.
  const filters = { reference: [repositoryOf(service)], label: [recipeLabel] }
  const images = await docker.listImages({ filters, abortSignal })
  for (const image of images) {
    if (keep.includes(image.Id)) continue
    for (const tag of image.RepoTags ?? []) {
      if (tag.startsWith(prefix) && !keep.includes(tag)) await removeTag(docker, tag, abortSignal)
    }
  }
}

/** Removes a tag, and the image with its last one. */
export async function removeTag(docker: Docker, tag: string, abortSignal: AbortSignal): Promise<void> {
  try {
    await docker.getImage(tag).remove({ abortSignal })
  } catch (error) {
    // Gone already, or a container still uses it: then the next time removes it.
    if (statusOf(error) !== 404 && statusOf(error) !== 409) throw error
  }
}

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
