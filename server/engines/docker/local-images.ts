import type { DockerDaemon } from './daemon.ts'
import { isRefusal } from './daemon.ts'
import { type ImageReference, isImageId, parseReference } from './image-reference.ts'
import { label } from './labels.ts'
import { fetchedAs, localName } from './local-name.ts'

/** The parts of the daemon's description of an image that we use. */
export interface InspectedImage {
  readonly Id: string
  readonly Size?: number
  readonly RepoTags?: readonly string[] | null
  readonly RepoDigests?: readonly string[] | null
  readonly Config?: {
    readonly Labels?: Readonly<Record<string, string>> | null
  } | null
}

/** Returns the image of that name. Undefined if the daemon has none. */
export async function inspectImage(
  daemon: DockerDaemon,
  name: string,
  signal: AbortSignal,
): Promise<InspectedImage | undefined> {
  try {
    // Docker's published API guarantees this shape.
    return (await daemon.json({ method: 'GET', path: `/images/${name}/json`, signal })) as InspectedImage
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}

/**
 * Returns the two names of a pinned image on the engine: our own tag, and the digest if Docker
 * itself pulled it.
 */
export const namesOf = (reference: string): readonly [string, string] => [localName(reference), plainName(reference)]

/** Returns an image by its pinned reference, under either of its names. */
export async function inspectPinned(
  daemon: DockerDaemon,
  reference: string,
  signal: AbortSignal,
): Promise<InspectedImage | undefined> {
  if (isImageId(reference)) return inspectImage(daemon, reference, signal)
  const [own, pulled] = namesOf(reference)
  return (await inspectImage(daemon, own, signal)) ?? (await inspectImage(daemon, pulled, signal))
}

/** Returns the name under which Docker stores it: with its host, and the digest before the tag. */
export function plainName(reference: string): string {
  const { name, tag, digest } = parseReference(reference)
  return digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
}

/** Lists all pinned references to an image. */
export function referencesTo({
  RepoTags,
  RepoDigests,
}: {
  readonly RepoTags?: readonly string[] | null | undefined
  readonly RepoDigests?: readonly string[] | null | undefined
}): string[] {
  const pulled = (RepoDigests ?? []).filter((text) => !text.startsWith('<none>')).map(plainName)
  return [...new Set([...pulled, ...(RepoTags ?? []).flatMap((tag) => fetchedAs(tag) ?? [])])]
}

export interface LocalImage {
  readonly id: string
  /** Its digest in the registry of that name. */
  readonly repoDigest: string | undefined
  /** Whether it came from a registry. */
  readonly isForeign: boolean
}

/** Finds the engine's image for a name with a tag. Skips images that were built for a service. */
export async function findLocal(
  daemon: DockerDaemon,
  { name, tag }: ImageReference,
  signal: AbortSignal,
): Promise<LocalImage | undefined> {
  const found = await inspectImage(daemon, `${name}:${tag ?? 'latest'}`, signal)
  if (!found || found.Config?.Labels?.[label.service] !== undefined) return undefined
  const digests = referencesTo(found).map((text) => parseReference(text))
  return {
    id: found.Id,
    repoDigest: digests.find((one) => one.name === name)?.digest,
    isForeign: digests.length > 0,
  }
}
