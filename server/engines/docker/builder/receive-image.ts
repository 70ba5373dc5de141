import { createReadStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyedSlots } from '../../../lib/keyed-slots.ts'
import { ArchiveReader, BrokenArchive } from '../../archive-reader.ts'
import { EngineError } from '../../engine-error.ts'
import { imageConfig } from '../../mirror/image-config.ts'
import { openPart } from '../../mirror/open-part.ts'
import { createPartSizes, lied } from '../../mirror/part-sizes.ts'
import type { ResultReceiver } from '../../mirror/receive-result.ts'
import type { DockerDaemon } from '../daemon.ts'
import { loadImage } from '../registry/load-image.ts'
import { mostManifestBytes, readDiffIds, readManifest } from '../registry/manifest.ts'
import { tooLarge } from '../registry/too-large.ts'
import { RegistryProblem } from '../registry-problem.ts'

const pieceBytes = 1024 * 1024

export interface ImageReceiverOptions {
  readonly daemon: DockerDaemon
  /** For this image alone. Removed at the end. */
  readonly directory: string
  /** The largest image, in bytes of its unpacked layers. */
  readonly maxImageBytes: number
  readonly signal: AbortSignal
}

/**
 * Receives the parts of an image from BuildKit, and loads the image into the Docker Engine under
 * its tag. Checks digests and sizes: a step may have taken over the daemon of its organization. An
 * image may only name layers that arrived, or those of the base images of its build, because the
 * engine has layers of other organizations. All methods throw EngineError.
 */
export function openImageReceiver({ daemon, directory, maxImageBytes, signal }: ImageReceiverOptions): ResultReceiver {
  const parts = createPartSizes((bytes) => {
    if (bytes > maxImageBytes + 2 * mostManifestBytes) throw asEngineError(tooLarge(bytes, maxImageBytes))
  })
  const alone = createKeyedSlots()
  const arrived = new Set<string>()
  /** Layers of base images, which the engine has. */
  const present = new Set<string>()
  const fileOf = (digest: string): string => join(directory, digest.slice('sha256:'.length))
  return {
    async add({ digest, size }) {
      parts.announce(digest, size)
      present.add(digest)
    },
    async begin(digest, size) {
      parts.announce(digest, size)
      const turn = await alone.take(digest, signal)
      if (arrived.has(digest) || present.has(digest)) {
        turn[Symbol.dispose]()
        return undefined
      }
      const file = await openPart({ path: fileOf(digest), digest, size, turn })
      const commit = async (): Promise<void> => {
        await file.finish()
        arrived.add(digest)
      }
      return { write: file.write, close: file.close, commit }
    },
    async finish(manifest, tag, labels) {
      if (!arrived.has(manifest) || (parts.sizeOf(manifest) ?? 0) > mostManifestBytes) throw lied('no manifest')
      try {
        const platform = { os: 'linux', architecture: '', variant: undefined }
        const image = readManifest(await readFile(fileOf(manifest)), platform)
        if ('digest' in image) throw lied('a list of images')
        for (const { digest, size } of [image.config, ...image.layers]) {
          if (parts.sizeOf(digest) !== size || !(arrived.has(digest) || present.has(digest))) {
            throw lied('an image whose parts it did not send')
          }
        }
        if (!arrived.has(image.config.digest)) throw lied('an image whose parts it did not send')
        const config = await readFile(fileOf(image.config.digest))
        const { labels: own, created } = imageConfig(config)
        for (const [name, value] of Object.entries(labels)) {
          if (own[name] !== value) throw lied(`an image without the label ${name}`)
        }
        const diffIds = readDiffIds(config, image.layers.length)
        const layers = new Map<string, { readonly file: string; readonly bytes: number }>()
        for (const [index, { digest, size }] of image.layers.entries()) {
          // BuildKit was asked for layers that are not compressed.
          if (diffIds[index] !== digest) throw lied('a compressed layer')
          if (!arrived.has(digest) || layers.has(digest)) continue
          await checkLayer(fileOf(digest), signal)
          layers.set(digest, { file: fileOf(digest), bytes: size })
        }
        await loadImage(daemon, { tag, config, diffIds, layers }, signal)
        return { id: image.config.digest, builtAt: created ?? new Date(0) }
      } catch (error) {
        throw error instanceof RegistryProblem ? asEngineError(error) : error
      }
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Docker would write the holes of sparse files, and unpack compressed layers, without a limit. */
async function checkLayer(file: string, signal: AbortSignal): Promise<void> {
  const reader = new ArchiveReader()
  try {
    for await (const piece of createReadStream(file, { signal, highWaterMark: pieceBytes })) await reader.write(piece)
    await reader.end()
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof BrokenArchive ? lied(`a layer that is not accepted: ${error.message}`) : error
  }
}

const asEngineError = ({ kind, message }: RegistryProblem): EngineError =>
  new EngineError(kind === 'disk-full' ? 'disk-full' : 'refused', message)
