import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { parseReference } from '../docker/image-reference.ts'
import { newPart } from '../docker/registry/download.ts'
import { readInto } from '../docker/registry/export-image.ts'
import type { Blob } from '../docker/registry/manifest.ts'
import { type RegistryTools, sourceOf } from '../docker/registry/registries.ts'
import { EngineError } from '../engine-error.ts'
import { refuseLarge } from './copy-image.ts'
import { imageConfig } from './image-config.ts'
import { pinned } from './pinned.ts'
import { asking, receivePart } from './read-image.ts'

/** An image that its registry returns without a password, read by the digests of its parts. */
export interface PublicImage extends AsyncDisposable {
  /** The digest of its manifest for this machine's platform. */
  readonly digest: string
  readonly labels: Readonly<Record<string, unknown>>
  readonly onBuild: readonly string[]
  /** `linux/amd64`. */
  readonly platform: string
  /** Returns the size of a part: its manifest, configuration or a layer. Undefined for others. */
  sizeOf(digest: string): number | undefined
  /**
   * Reads from an offset of a part, and returns the part of the buffer that was filled. The first
   * read of a layer downloads it. Throws EngineError.
   */
  read(digest: string, from: number, into: Buffer, attempt: Attempt): Promise<Buffer>
}

/**
 * Opens an image for a build. Its registry is asked without a password each time, also for a
 * digest: only then everybody may use it. Nothing of it is kept once it is disposed of. Throws
 * EngineError.
 */
export async function openPublicImage(registries: RegistryTools, text: string, attempt: Attempt): Promise<PublicImage> {
  const from = await pinned(registries, parseReference(text), undefined, attempt)
  const source = (signal: AbortSignal) => sourceOf(registries, from, undefined, signal)
  const reading = { registries, source, from }
  const { platform } = await registries.settings(attempt.signal)
  const { manifest, config } = await asking(
    reading,
    attempt,
    () => 0,
    async (registry) => {
      const found = await registry.manifest(from.digest, platform, attempt.signal)
      refuseLarge(found, registries.maxImageBytes)
      return { manifest: found, config: await registry.small(found.config, attempt.signal) }
    },
  )
  const small = new Map([
    [manifest.digest, manifest.bytes],
    [manifest.config.digest, config],
  ])
  const layers = new Map(manifest.layers.map((layer) => [layer.digest, layer]))
  const directory = await mkdtemp(join(await registries.spoolDirectory(), 'base-'))
  const loading = new Map<string, Promise<string>>()
  const load = async (layer: Blob, by: Attempt): Promise<string> => {
    const part = newPart(join(directory, layer.digest.slice('sha256:'.length)), layer)
    await receivePart(reading, part, by)
    return part.file
  }
  const fileOf = (layer: Blob, by: Attempt): Promise<string> => {
    const file = loading.get(layer.digest) ?? load(layer, by)
    loading.set(layer.digest, file)
    file.catch(() => loading.delete(layer.digest))
    return file
  }
  return {
    ...imageConfig(config),
    digest: manifest.digest,
    sizeOf: (digest) => small.get(digest)?.length ?? layers.get(digest)?.size,
    async read(digest, offset, into, by) {
      const bytes = small.get(digest)
      if (bytes) return into.subarray(0, bytes.copy(into, 0, offset))
      const layer = layers.get(digest)
      if (!layer) throw new EngineError('refused', `${digest} is no part of ${from.name}`)
      return readInto(await fileOf(layer, by), offset, into)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.allSettled(loading.values())
      await rm(directory, { recursive: true, force: true })
    },
  }
}
