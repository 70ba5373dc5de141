import type { Attempt } from '../../lib/attempt.ts'
import { createKeyedSlots } from '../../lib/keyed-slots.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import { serviceLabel } from '../build-order.ts'
import { type BaseImages, type BroughtImage, BuildError } from '../builder.ts'
import { baseRepository, fetchedPrefix, fullImageName, isOwnImage, isServiceImage } from '../image-names.ts'
import { type InspectedImage, inspectImage, listImages, removeTag, tagImage } from './docker-images.ts'

export interface DockerBaseImagesOptions {
  /** Unix socket of the Docker Engine. */
  readonly socketPath: string
  /**
   * Distinguishes this installation's tags from others on the same engine. Letters, digits and
   * hyphens.
   */
  readonly namespace: string
  /**
   * Makes the engine fetch a public image and returns its name there. Throws Error with the reason.
   * Without it only images that the engine already has are used.
   */
  readonly fetch?: (image: string, attempt: Attempt) => Promise<string>
  /**
   * Whether an organization may use an image of the engine with these registry digests, without
   * asking a registry. Without it, every image is public.
   */
  readonly mayUse?: (digests: readonly string[], organization: string | undefined) => Promise<boolean>
}

/**
 * Provides base images on a Docker Engine. Each gets a tag made of its id while a build needs it.
 * The engine uses a local image with that name without asking a registry, and no one else can put
 * another image there.
 */
export function createDockerBaseImages(options: DockerBaseImagesOptions): BaseImages {
  const docker = new SocketHttp(options)
  const tags = createTags(docker, options.namespace)
  let known: Promise<string> | undefined
  /** Reads it once: for the answer the engine starts other programs. */
  const platform = (): Promise<string> => {
    known ??= platformOf(docker)
    known.catch(() => {
      known = undefined
    })
    return known
  }
  return {
    async bring(image, organization, attempt) {
      const found = await findOrFetch(docker, options, image, { organization, attempt })
      refuseForeign(found, image)
      const { Os, Architecture } = found
      const native = await platform()
      if (`${Os}/${Architecture}` !== native) {
        throw new BuildError(
          'dockerfile',
          `The base image "${image}" is built for ${Os}/${Architecture}, but the engine runs ${native}. Use an ` +
            `image for ${native}.`,
        )
      }
      const tag = await tags.hold(found.Id, attempt.signal)
      return { ...tag, onBuild: found.Config.OnBuild ?? [] }
    },
  }
}

async function findOrFetch(
  docker: SocketHttp,
  { fetch, mayUse }: DockerBaseImagesOptions,
  image: string,
  { organization, attempt }: { readonly organization: string | undefined; readonly attempt: Attempt },
): Promise<InspectedImage> {
  const name = fullImageName(image)
  if (name === undefined || isOwnImage(image))
    throw new BuildError(
      'dockerfile',
      `"${image}" is not the name of an image that builds may use. Use an image of a registry.`,
    )
  const local = await inspectImage(docker, name)
  if (local) refuseForeign(local, image)
  if (local && (!mayUse || (await mayUse(digestsOf(local), organization)))) return local
  if (!fetch) throw absent(image, 'no image has that name')
  const fetched = await fetch(name, attempt).catch((error: unknown) => {
    attempt.signal.throwIfAborted()
    throw error instanceof BuildError || !(error instanceof Error) ? error : absent(image, error.message, error)
  })
  const found = await inspectImage(docker, fetched)
  if (!found) throw absent(image, 'it was fetched and then removed')
  return found
}

const absent = (image: string, why: string, cause?: Error): BuildError =>
  new BuildError(
    'failed',
    `The base image "${image}" is not on the engine and could not be fetched: ${withoutFullStop(why)}. ` +
      'Correct the FROM line, or make the image available.',
    { cause },
  )

/**
 * Returns the image's registry digests. Docker records them for images that it pulled. For images
 * that the server fetched, tags record them.
 */
const digestsOf = ({ RepoDigests, RepoTags }: InspectedImage): string[] => [
  ...(RepoDigests ?? []).flatMap((name) => name.split('@')[1] ?? []),
  ...(RepoTags ?? []).flatMap((tag) => {
    const hex = tag.startsWith(fetchedPrefix) ? /:sha256-([0-9a-f]{64})$/.exec(tag)?.[1] : undefined
    return hex === undefined ? [] : `sha256:${hex}`
  }),
]

/** Rejects an image that was built here for a service, under whatever name. */
function refuseForeign(found: InspectedImage, image: string): void {
  const labels = found.Config.Labels ?? {}
  const isBuilt = serviceLabel in labels || (found.RepoTags ?? []).some(isServiceImage)
  if (!isBuilt) return
  throw new BuildError(
    'dockerfile',
    `"${image}" was built by this platform for a service, and other builds must not use it. Use its base ` +
      'image, or another one.',
  )
}

/** Returns the system and architecture of an engine: `linux/amd64`. */
async function platformOf(docker: SocketHttp): Promise<string> {
  // The engine is trusted to keep to its API.
  const { Os, Arch } = (await docker.json({
    method: 'GET',
    path: '/version',
    signal: AbortSignal.timeout(60_000),
  })) as {
    readonly Os: string
    readonly Arch: string
  }
  return `${Os}/${Arch}`
}

/** Creates tags that exist while builds use them. */
function createTags(docker: SocketHttp, namespace: string) {
  const users = new Map<string, number>()
  const alone = createKeyedSlots()
  const left = new Set<string>()
  let swept: Promise<void> | undefined
  const removeLeft = async (signal: AbortSignal): Promise<void> => {
    for (const reference of left) {
      using _ = await alone.take(reference, signal)
      if (left.has(reference) && !users.has(reference)) await removeTag(docker, reference, signal)
      left.delete(reference)
    }
  }
  const leave = async (reference: string): Promise<void> => {
    const signal = AbortSignal.timeout(60_000)
    using _ = await alone.take(reference, signal)
    const others = (users.get(reference) ?? 1) - 1
    if (others > 0) return void users.set(reference, others)
    users.delete(reference)
    left.add(reference)
    await removeTag(docker, reference, signal)
    left.delete(reference)
  }
  return {
    async hold(
      id: string,
      signal: AbortSignal,
    ): Promise<Pick<BroughtImage, 'reference' | 'release'> & { reference: string }> {
      swept ??= sweep(docker, namespace).catch(() => {
        swept = undefined
      })
      await swept
      // The next build retries a tag that the engine did not remove.
      await removeLeft(signal).catch(() => signal.throwIfAborted())
      const tag = `${namespace}-${id.replace(/^sha256:/, '')}`
      const reference = `${baseRepository}:${tag}`
      using _ = await alone.take(reference, signal)
      await tagImage(docker, id, { repo: baseRepository, tag })
      users.set(reference, (users.get(reference) ?? 0) + 1)
      let isHeld = true
      return {
        reference,
        release: async () => {
          if (isHeld) await leave(reference)
          isHeld = false
        },
      }
    },
  }
}

/** Removes the tags that a killed process left. */
async function sweep(docker: SocketHttp, namespace: string): Promise<void> {
  const images = await listImages(docker, { reference: [baseRepository] })
  for (const tag of images.flatMap(({ RepoTags }) => RepoTags ?? [])) {
    if (tag.startsWith(`${baseRepository}:${namespace}-`)) await removeTag(docker, tag, AbortSignal.timeout(60_000))
  }
}
