import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { type ImageReference, parseReference } from '../docker/image-reference.ts'
import { ownSettings } from '../docker/registry/places.ts'
import { pushProblem } from '../docker/registry/push-problem.ts'
import {
  createRegistryTools,
  type RegistryTools,
  sourceOf,
  type ToolOptions,
  targetOf,
} from '../docker/registry/registries.ts'
import { trying } from '../docker/registry/send-blob.ts'
import { hasManifest } from '../docker/registry/upload.ts'
import { toError, tryOften } from '../docker/try-often.ts'
import { EngineError } from '../engine-error.ts'
import type { PinnedImage, PublishedImage, RegistryLogin, RegistryTarget } from '../image.ts'
import type { ImageStore } from '../roles/image-store.ts'
import { type Copying, copyImage } from './copy-image.ts'

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
      await copy(registries, { source, from: image, target: await kept(image) }, attempt)
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
      const mountable = place.name.slice(place.host.length + 1)
      await copy(registries, { source, from: { ...place, digest }, mountable, target }, attempt)
      return { reference: `${parseReference(target.repository).name}@${digest}`, digest }
    },
    pushProblem: (target, signal) => pushProblem(registries, target, signal),
  }
}

/** Registries may remove manifests without a tag. */
const tagOf = (digest: string): string => digest.replace(':', '-')

/** Returns the image that a tag names now. */
async function pinned(
  registries: RegistryTools,
  image: ImageReference,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<ImageReference & { readonly digest: string }> {
  if (image.digest !== undefined) return { ...image, digest: image.digest }
  const ask = async () => {
    const source = await sourceOf(registries, image, login, attempt.signal)
    return source.digestOf(image.tag ?? 'latest', attempt.signal)
  }
  const digest = await tryOften(registries, image, attempt, { ask, isEnough: () => false, bytes: () => 0 })
  if (typeof digest !== 'string') throw toError(digest)
  return { ...image, tag: undefined, digest }
}

function digested(reference: string): ImageReference & { readonly digest: string } {
  const image = parseReference(reference)
  if (image.digest === undefined) throw new Error(`${reference} has no digest`)
  return { ...image, digest: image.digest }
}

const openTarget = async (registries: RegistryTools, { repository, login }: RegistryTarget, { signal }: Attempt) => {
  const reference = parseReference(repository)
  return { reference, client: await targetOf(registries, reference, login, signal) }
}

async function copy(
  registries: RegistryTools,
  { target, ...copying }: Pick<Copying, 'source' | 'from' | 'mountable'> & { readonly target: RegistryTarget },
  attempt: Attempt,
): Promise<void> {
  const directory = await mkdtemp(join(await registries.spoolDirectory(), 'image-'))
  try {
    const to = await openTarget(registries, target, attempt)
    await copyImage({ ...copying, registries, to, tag: tagOf(copying.from.digest) }, directory, attempt)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
