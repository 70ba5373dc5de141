import type { Attempt } from '../../lib/attempt.ts'
import { createKeyedSlots } from '../../lib/keyed-slots.ts'
import { SocketHttp } from '../../lib/socket-http.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import { recipeLabel, serviceLabel } from '../build-order.ts'
import { type BaseImages, type BroughtImage, BuildError } from '../builder.ts'
import { baseRepository, fetchedPrefix, fullImageName, isOwnImage, isServiceImage } from '../image-names.ts'
import { type InspectedImage, inspectImage, listImages, removeTag, tagImage } from './docker-images.ts'

export interface DockerBaseImagesOptions {
  /** Unix socket of the Docker Engine. */
  readonly socketPath: string
  /**
   * Separates this installation's tags from those of others on the same engine; letters, digits and
   * hyphens.
   */
  readonly namespace: string
  /**
   * Has the engine get an image that is open to all, and returns the name by which it is there.
   * Throws Error with the reason. Without it only images are used that the engine has.
   */
  readonly fetch?: (image: string, attempt: Attempt) => Promise<string>
  /**
   * Whether an organization may use an image of the engine that came from registries under these
   * digests, without asking one. Without it every image is for all.
   */
  readonly mayUse?: (digests: readonly string[], organization: string | undefined) => Promise<boolean>
}

/**
 * Base images on a Docker Engine. Each gets a tag that is made of its id, for as long as a build
 * needs it. The engine prefers an image that it has under that name, so that it asks no registry,
 * and no one else can put another image there.
 */
export function createDockerBaseImages(options: DockerBaseImagesOptions): BaseImages {
  const docker = new SocketHttp(options)
  const tags = createTags(docker, options.namespace)
  return {
    async bring(image, organization, attempt) {
      const found = await findOrFetch(docker, options, image, { organization, attempt })
      refuseForeign(found, image)
      const { Os, Architecture } = found
      const native = (await platformOf(docker)).join('/')
      if (`${Os}/${Architecture}` !== native) {
        throw new BuildError(
          'dockerfile',
          `The base image "${image}" is made for ${Os}/${Architecture}, and the engine is ${native}. Use an ` +
            'image for that platform.',
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
    throw new BuildError('dockerfile', `"${image}" is not the name of an image that builds may use.`)
  const local = await inspectImage(docker, name)
  if (local) refuseForeign(local, image)
  if (local && (!mayUse || (await mayUse(digestsOf(local), organization)))) return local
  if (!fetch) throw absent(image, 'there is no image of that name')
  const fetched = await fetch(name, attempt).catch((error: unknown) => {
    attempt.signal.throwIfAborted()
    throw error instanceof BuildError || !(error instanceof Error) ? error : absent(image, error.message, error)
  })
  const found = await inspectImage(docker, fetched)
  if (!found) throw absent(image, 'it was fetched and is gone again')
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
 * Digests of the image in its registries. Docker records them for images that it pulled; tags
 * record them for images that the server fetched.
 */
const digestsOf = ({ RepoDigests, RepoTags }: InspectedImage): string[] => [
  ...(RepoDigests ?? []).flatMap((name) => name.split('@')[1] ?? []),
  ...(RepoTags ?? []).flatMap((tag) => {
    const hex = tag.startsWith(fetchedPrefix) ? /:sha256-([0-9a-f]{64})$/.exec(tag)?.[1] : undefined
    return hex === undefined ? [] : `sha256:${hex}`
  }),
]

/** Whatever name leads to it: what was built here for a service is nobody else's. */
function refuseForeign(found: InspectedImage, image: string): void {
  const labels = found.Config.Labels ?? {}
  const isBuilt = serviceLabel in labels || recipeLabel in labels || (found.RepoTags ?? []).some(isServiceImage)
  if (!isBuilt) return
  throw new BuildError(
    'dockerfile',
    `"${image}" was built here for a service, and nothing else is built on those. Use the image that it was ` +
      'built on, or another one.',
  )
}

async function platformOf(docker: SocketHttp): Promise<[os: string, architecture: string]> {
  // The engine is trusted to keep to its API.
  const { Os, Arch } = (await docker.json({
    method: 'GET',
    path: '/version',
    signal: AbortSignal.timeout(60_000),
  })) as {
    readonly Os: string
    readonly Arch: string
  }
  return [Os, Arch]
}

/** Tags for the time of builds. */
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
      // A tag that the engine did not remove waits for the next build.
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

/** Removes what a process that was killed has left. */
async function sweep(docker: SocketHttp, namespace: string): Promise<void> {
  const images = await listImages(docker, { reference: [baseRepository] })
  for (const tag of images.flatMap(({ RepoTags }) => RepoTags ?? [])) {
    if (tag.startsWith(`${baseRepository}:${namespace}-`)) await removeTag(docker, tag, AbortSignal.timeout(60_000))
  }
}
