import { isRefusedWith, type SocketHttp } from '../../lib/socket-http.ts'
import { type BuildOrder, recipeLabel, repositoryOf } from '../build-order.ts'
import type { Image, Promoted } from '../builder.ts'

/** Finds the image of the order by its tag. A tag without our label is foreign and is ignored. */
export async function findImage(docker: SocketHttp, order: BuildOrder): Promise<Image | undefined> {
  const image = await inspectImage(docker, order.tag)
  if (!image || image.Config.Labels?.[recipeLabel] !== order.labels[recipeLabel]) return undefined
  return { reference: order.tag, digest: image.Id }
}

/** Whether the tag exists and names the same image. */
export const hasImage = async (docker: SocketHttp, { reference, digest }: Image): Promise<boolean> =>
  (await inspectImage(docker, reference))?.Id === digest

/**
 * Tags an image of the same recipe for the order's service too. Each service removes its own tags.
 * Removing the last tag removes the image.
 */
export async function promoteImage(
  docker: SocketHttp,
  digest: string,
  order: BuildOrder,
): Promise<Promoted | undefined> {
  const image = await inspectImage(docker, digest)
  if (!image || image.Config.Labels?.[recipeLabel] !== order.labels[recipeLabel]) return undefined
  const [repo = '', tag = ''] = order.tag.split(':')
  try {
    await tagImage(docker, image.Id, { repo, tag })
  } catch (error) {
    // The image was removed in the meantime.
    if (isRefusedWith(error, 404)) return undefined
    throw error
  }
  return { reference: order.tag, digest: image.Id, builtAt: new Date(image.Created) }
}

/** Returns the size of an image with all its base layers, in bytes. */
export async function sizeOf(docker: SocketHttp, id: string): Promise<number> {
  const image = await inspectImage(docker, id)
  if (!image) throw new Error(`the engine no longer has the image ${id}`)
  return image.Size
}

/** The fields used here of an image in Docker's API. */
export interface InspectedImage {
  readonly Id: string
  readonly RepoTags?: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
  readonly Created: string
  readonly Size: number
  readonly Os: string
  readonly Architecture: string
  readonly Config: {
    readonly Labels?: Readonly<Record<string, string>> | null
    readonly OnBuild?: readonly string[] | null
  }
}

export interface ListedImage {
  readonly Id: string
  readonly RepoTags?: readonly string[] | null
  readonly Labels?: Readonly<Record<string, string>> | null
}

/** The engine answers within this time or not at all. */
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

export async function inspectImage(docker: SocketHttp, tag: string): Promise<InspectedImage | undefined> {
  try {
    // The engine is trusted to keep to its API.
    return (await docker.json({ method: 'GET', path: `/images/${tag}/json`, signal: limit() })) as InspectedImage
  } catch (error) {
    if (isRefusedWith(error, 404)) return undefined
    throw error
  }
}

export const listImages = async (
  docker: SocketHttp,
  filters: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal = limit(),
): Promise<readonly ListedImage[]> =>
  (await docker.json({ method: 'GET', path: '/images/json', query: { filters }, signal })) as readonly ListedImage[]

export async function tagImage(
  docker: SocketHttp,
  id: string,
  query: { readonly repo: string; readonly tag: string },
): Promise<void> {
  await docker.json({ method: 'POST', path: `/images/${id}/tag`, query, signal: limit() })
}

/**
 * Removes the tags of a service's images except `keep` (references or digests). An image without
 * tags is removed too.
 */
export async function pruneImages(
  docker: SocketHttp,
  service: string,
  keep: readonly string[],
  abortSignal: AbortSignal,
): Promise<void> {
  const prefix = `${repositoryOf(service)}:`
  // Filtered by name: the label of a promoted image names the service it was built for.
  const filters = { reference: [repositoryOf(service)], label: [recipeLabel] }
  const images = await listImages(docker, filters, abortSignal)
  for (const image of images) {
    if (keep.includes(image.Id)) continue
    for (const tag of image.RepoTags ?? []) {
      if (tag.startsWith(prefix) && !keep.includes(tag)) await removeTag(docker, tag, abortSignal)
    }
  }
}

/** Removes a tag. Removing the last tag removes the image. */
export async function removeTag(docker: SocketHttp, tag: string, abortSignal: AbortSignal): Promise<void> {
  try {
    await docker.json({ method: 'DELETE', path: `/images/${tag}`, signal: abortSignal })
  } catch (error) {
    // Already gone, or still used by a container. The next prune removes it then.
    if (!isRefusedWith(error, 404, 409)) throw error
  }
}
