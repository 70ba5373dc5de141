import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { type ImageReference, parseReference } from '../docker/image-reference.ts'
import type { RegistryClient } from '../docker/registry/client.ts'
import { type RegistryTools, sourceOf, targetOf } from '../docker/registry/registries.ts'
import { trying } from '../docker/registry/send-blob.ts'
import type { WholeManifest } from '../docker/registry/source.ts'
import { listTags, removeTag } from '../docker/registry/tags.ts'
import { hasManifest, putManifest } from '../docker/registry/upload.ts'
import { EngineError } from '../engine-error.ts'
import type { PublishedImage, RegistryTarget } from '../image.ts'
import { copyTo } from './copy-to.ts'
import { imageConfig } from './image-config.ts'
import { annotated, openReceiver, type ResultReceiver } from './receive-result.ts'

/** An image in the repository of results. */
export interface BuiltImage {
  /** The digest of its configuration, which does not depend on its tag. */
  readonly id: string
  readonly builtAt: Date
}

/**
 * The results of builds for one cluster, in a repository of the registry of the clusters. Another
 * cluster has another one, because a builder may say which parts its own repository already has.
 * Each tag has a manifest of its own, so that removing one leaves the others. All methods throw
 * EngineError.
 */
export interface BuildResults {
  find(tag: string, attempt: Attempt): Promise<BuiltImage | undefined>
  /** Begins to receive the parts of an image. Dispose of it. */
  receive(attempt: Attempt): Promise<ResultReceiver>
  /** Adds a tag to an image whose tag has this ending. Undefined if there is none. */
  tagAgain(id: string, ending: string, tag: string, attempt: Attempt): Promise<BuiltImage | undefined>
  /** Lists the tags that begin with this text. */
  list(beginning: string, attempt: Attempt): Promise<readonly string[]>
  /** Removes a tag, if the registry removes anything. */
  remove(tag: string, attempt: Attempt): Promise<void>
  /** Copies an image to a repository of the same registry. */
  publish(tag: string, target: RegistryTarget, attempt: Attempt): Promise<PublishedImage>
}

/** Opens the results below this name. `target` returns the registry of the clusters. */
export function createBuildResults(
  registries: RegistryTools,
  name: string,
  target: () => Promise<RegistryTarget>,
): BuildResults {
  const place = async (): Promise<RegistryTarget & { readonly reference: ImageReference }> => {
    const { repository, login } = await target()
    const own = `${repository}/${name}`
    return { repository: own, login, reference: parseReference(own) }
  }
  /** Runs the work with the client of the repository, and retries it. */
  const asking = async <T>(attempt: Attempt, work: (client: RegistryClient) => Promise<T>): Promise<T> => {
    const { reference, login } = await place()
    const client = await targetOf(registries, reference, login, attempt.signal)
    return trying({ registries, attempt, client, reference }, () => work(client))
  }
  const read = async (tag: string, attempt: Attempt): Promise<(BuiltImage & WholeManifest) | undefined> => {
    const { signal } = attempt
    const { reference, login } = await place()
    if (!(await asking(attempt, (client) => hasManifest(client, tag, signal)))) return undefined
    const source = await sourceOf(registries, reference, login, signal)
    const { platform } = await registries.settings(signal)
    return asking(attempt, async () => {
      const manifest = await source.manifest(await source.digestOf(tag, signal), platform, signal)
      const { created } = imageConfig(await source.small(manifest.config, signal))
      return { ...manifest, id: manifest.config.digest, builtAt: created ?? registries.clock.now() }
    })
  }
  const list = (attempt: Attempt) => asking(attempt, (client) => listTags(client, attempt.signal))
  return {
    find: read,
    async receive(attempt) {
      const { reference, login } = await place()
      const client = await targetOf(registries, reference, login, attempt.signal)
      const directory = await mkdtemp(join(await registries.spoolDirectory(), 'result-'))
      return openReceiver({ registries, client, reference, attempt, directory })
    },
    async tagAgain(id, ending, tag, attempt) {
      for (const other of await list(attempt)) {
        if (!other.endsWith(ending)) continue
        const found = await read(other, attempt)
        if (found?.id !== id) continue
        const { mediaType, bytes } = found
        const own = { tag, mediaType, bytes: annotated(bytes, tag) }
        await asking(attempt, (client) => putManifest(client, own, attempt.signal))
        return found
      }
      return undefined
    },
    list: async (beginning, attempt) => (await list(attempt)).filter((tag) => tag.startsWith(beginning)),
    remove: (tag, attempt) => asking(attempt, (client) => removeTag(client, tag, attempt.signal)),
    async publish(tag, to, attempt) {
      const found = await read(tag, attempt)
      const { reference, repository, login } = await place()
      if (!found)
        throw new EngineError('image-missing', `The image ${tag} is no longer in ${repository}. Deploy again.`)
      const source = (signal: AbortSignal) => sourceOf(registries, reference, login, signal)
      return copyTo(
        registries,
        { source, from: { ...reference, digest: found.digest }, own: reference, target: to },
        attempt,
      )
    },
  }
}
