import { EngineError, type PublicImage } from '../../engines/index.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import { serviceLabel } from '../build-order.ts'
import { type BaseImages, BuildError } from '../builder.ts'
import { baseRepository, fullImageName, isOwnImage } from '../image-names.ts'
import { nativePlatform } from '../image-values.ts'

export interface BuildKitBaseImages extends BaseImages {
  /** Returns a base image that a build holds, by its reference. */
  held(reference: string): PublicImage | undefined
}

export interface BaseImageOptions {
  /** Opens an image that everybody may use. Throws EngineError. */
  readonly open: (image: string, attempt: Attempt) => Promise<PublicImage>
  /** Whether an image is in the registry of the clusters, with images of all organizations. */
  readonly isOwn: (image: string) => boolean
}

/**
 * Opens base images at their registries, for the time of a build. A build gets a name of its own
 * for each of them.
 */
export function createBuildKitBaseImages({ open, isOwn }: BaseImageOptions): BuildKitBaseImages {
  const held = new Map<string, PublicImage>()
  let count = 0
  return {
    held: (reference) => held.get(reference),
    async bring(image, _organization, attempt) {
      const name = fullImageName(image)
      if (name === undefined || isOwnImage(image) || isOwn(name)) {
        throw new BuildError(
          'dockerfile',
          `"${image}" is not the name of an image that builds may use. Use an image of a registry.`,
        )
      }
      const found = await open(name, attempt).catch((error: unknown) => {
        attempt.signal.throwIfAborted()
        throw error instanceof EngineError ? absent(image, error) : error
      })
      try {
        refuse(found, image)
      } catch (error) {
        await found[Symbol.asyncDispose]()
        throw error
      }
      const reference = `${baseRepository}:${found.digest.slice('sha256:'.length)}-${++count}`
      held.set(reference, found)
      const release = async (): Promise<void> => {
        held.delete(reference)
        await found[Symbol.asyncDispose]()
      }
      return { reference, onBuild: found.onBuild, release }
    },
  }
}

const absent = (image: string, error: EngineError): BuildError =>
  new BuildError(
    'failed',
    `The base image "${image}" could not be fetched: ${withoutFullStop(error.message)}. ` +
      'Correct the FROM line, or make the image available.',
    { cause: error },
  )

/** Rejects an image that was built here for a service, or is for another platform. */
function refuse({ labels, platform }: PublicImage, image: string): void {
  if (serviceLabel in labels) {
    throw new BuildError(
      'dockerfile',
      `"${image}" was built by this platform for a service, and other builds must not use it. Use its base ` +
        'image, or another one.',
    )
  }
  if (platform === nativePlatform) return
  throw new BuildError(
    'dockerfile',
    `The base image "${image}" is built for ${platform}, but the builder runs ${nativePlatform}. Use an image for ` +
      `${nativePlatform}.`,
  )
}
