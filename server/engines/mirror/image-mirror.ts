import { createHash } from 'node:crypto'
import type { Attempt } from '../../lib/attempt.ts'
import { type ImageReference, parseReference } from '../docker/image-reference.ts'
import { ownSettings } from '../docker/registry/places.ts'
import { pushProblem } from '../docker/registry/push-problem.ts'
import { createRegistryTools, sourceOf, type ToolOptions } from '../docker/registry/registries.ts'
import { trying } from '../docker/registry/send-blob.ts'
import { hasManifest } from '../docker/registry/upload.ts'
import { EngineError } from '../engine-error.ts'
import type { PinnedImage, PublishedImage, RegistryTarget } from '../image.ts'
import type { ImageStore } from '../roles/image-store.ts'
import { type BuildResults, createBuildResults } from './build-results.ts'
import { copyTo, openTarget, tagOf } from './copy-to.ts'
import { pinned } from './pinned.ts'
import { openPublicImage, type PublicImage } from './public-image.ts'

export interface ImageMirrorOptions extends ToolOptions {
  /** Hosts and networks whose registries may answer without TLS. */
  readonly insecureRegistries: readonly string[]
  /** Returns the registry of the clusters: `host/path` and credentials. Throws if there is none. */
  readonly target: () => Promise<RegistryTarget>
}

/** Images of other registries in the registry of the clusters, without an engine in between. */
export interface ImageMirror extends ImageStore {
  /** Copies a fetched image to a repository of that registry. Throws EngineError. */
  publish(image: string, target: RegistryTarget, attempt: Attempt): Promise<PublishedImage>
  /** Returns why images cannot be published there now, with what to do. Undefined if they can. */
  pushProblem(target: RegistryTarget, signal: AbortSignal): Promise<string | undefined>
  /** Opens an image that everybody may use. Throws EngineError. */
  openPublic(image: string, attempt: Attempt): Promise<PublicImage>
  /** Returns the results of builds in the repository of this name below the registry's path. */
  resultsOf(name: string): BuildResults
}

export function createImageMirror(options: ImageMirrorOptions): ImageMirror {
  const settings = ownSettings(options.insecureRegistries)
  const registries = createRegistryTools(options, async () => settings)
  /** The repository in which fetched images wait until they are published. */
  const kept = async (image: ImageReference): Promise<RegistryTarget> => {
    const { repository, login } = await options.target()
    const name = createHash('sha256').update(image.name).digest('hex').slice(0, 24)
    return { repository: `${repository}/fetched-${name}`, login }
  }
  const isKept = async (image: ImageReference & { readonly digest: string }, attempt: Attempt): Promise<boolean> => {
    const to = await openTarget(registries, await kept(image), attempt)
    return trying({ registries, attempt, ...to }, () => hasManifest(to.client, tagOf(image.digest), attempt.signal))
  }
  return {
    async pinImage(text, login, attempt): Promise<PinnedImage> {
      const image = await pinned(registries, parseReference(text), login, attempt)
      const isThere = await isKept(image, attempt)
      return { reference: `${image.name}@${image.digest}`, digest: image.digest, isThere, namedBy: 'registry' }
    },
    async fetchImage(reference, login, attempt) {
      const image = digested(reference)
      using _ = await registries.fetching.take(reference, attempt.signal)
      if (await isKept(image, attempt)) return
      const source = (signal: AbortSignal) => sourceOf(registries, image, login, signal)
      await copyTo(registries, { source, from: image, target: await kept(image) }, attempt)
    },
    async publish(reference, target, attempt) {
      const image = digested(reference)
      const { repository, login } = await kept(image)
      const place = parseReference(repository)
      if (!(await isKept(image, attempt))) {
        throw new EngineError('image-missing', `The image ${reference} is no longer in ${repository}. Deploy again.`)
      }
      const source = (signal: AbortSignal) => sourceOf(registries, place, login, signal)
      const digest = await (await source(attempt.signal)).digestOf(tagOf(image.digest), attempt.signal)
      return copyTo(registries, { source, from: { ...place, digest }, own: place, target }, attempt)
    },
    pushProblem: (target, signal) => pushProblem(registries, target, signal),
    openPublic: (image, attempt) => openPublicImage(registries, image, attempt),
    resultsOf: (name) => createBuildResults(registries, name, options.target),
  }
}

function digested(reference: string): ImageReference & { readonly digest: string } {
  const image = parseReference(reference)
  if (image.digest === undefined) throw new Error(`${reference} has no digest`)
  return { ...image, digest: image.digest }
}
