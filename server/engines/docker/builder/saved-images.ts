import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../../lib/attempt.ts'
import { createKeyedSlots } from '../../../lib/keyed-slots.ts'
import { EngineError } from '../../engine-error.ts'
import type { DockerDaemon } from '../daemon.ts'
import { exportImage, readInto } from '../registry/export-image.ts'
import { layersOf } from '../registry/present-layers.ts'
import { configType, layerType, manifestType } from '../registry/written-manifest.ts'

/** An image as BuildKit reads it: a manifest and its parts, by their digests. */
export interface ImageContent {
  /** The digest of its manifest. */
  readonly digest: string
  /** Returns the size of a part: its manifest, configuration or a layer. Undefined for others. */
  sizeOf(digest: string): number | undefined
  /** Reads from an offset of a part, and returns the part of the buffer that was filled. */
  read(digest: string, from: number, into: Buffer, attempt: Attempt): Promise<Buffer>
}

export interface SavedImages {
  /** Opens an image of the engine by its id. Throws EngineError. */
  open(id: string, attempt: Attempt): Promise<ImageContent & AsyncDisposable>
}

/** What is known of an image without its layers. */
interface Description {
  readonly digest: string
  /** The manifest and the configuration. */
  readonly small: ReadonlyMap<string, Buffer>
  readonly layerSizes: ReadonlyMap<string, number>
}

/** The layers of an image, in files named after their digests. */
interface Exported {
  readonly directory: string
  readonly description: Description
}

/** A description takes some kilobytes. */
const mostKnown = 500

/**
 * Lets BuildKit read images of a Docker Engine. An image is exported when a build uses it for the
 * first time, and again when a daemon lacks one of its layers. Its files exist only while builds
 * hold the image.
 */
export function createSavedImages(daemon: DockerDaemon, spoolDirectory: () => Promise<string>): SavedImages {
  const known = new Map<string, Description>()
  const held = new Map<string, { users: number; exported?: Exported }>()
  const alone = createKeyedSlots()
  const exported = async (id: string, { signal }: Attempt): Promise<Exported> => {
    using _ = await alone.take(id, signal)
    const entry = held.get(id)
    if (!entry) throw new Error(`the image ${id} is not held`)
    entry.exported ??= await exportTo(await spoolDirectory(), daemon, id, signal)
    return entry.exported
  }
  const describe = async (id: string, attempt: Attempt): Promise<Description> => {
    const description = known.get(id) ?? (await exported(id, attempt)).description
    known.delete(id)
    known.set(id, description)
    for (const oldest of known.keys()) if (known.size > mostKnown) known.delete(oldest)
    return description
  }
  const release = async (id: string): Promise<void> => {
    const entry = held.get(id)
    if (!entry || --entry.users > 0) return
    held.delete(id)
    if (entry.exported) await rm(entry.exported.directory, { recursive: true, force: true })
  }
  return {
    async open(id, attempt) {
      const entry = held.get(id) ?? { users: 0 }
      entry.users++
      held.set(id, entry)
      try {
        const { digest, small, layerSizes } = await describe(id, attempt)
        return {
          digest,
          sizeOf: (part) => small.get(part)?.length ?? layerSizes.get(part),
          async read(part, from, into, reading) {
            const bytes = small.get(part)
            if (bytes) return into.subarray(0, bytes.copy(into, 0, from))
            const { directory } = await exported(id, reading)
            return await readInto(join(directory, nameOf(part)), from, into)
          },
          [Symbol.asyncDispose]: () => release(id),
        }
      } catch (error) {
        await release(id)
        throw error
      }
    },
  }
}

const nameOf = (digest: string): string => digest.slice('sha256:'.length)

async function exportTo(spool: string, daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<Exported> {
  const directory = await mkdtemp(join(spool, 'base-'))
  try {
    const layers = (await layersOf(daemon, id, signal)) ?? []
    const wanted = new Set([id, ...layers])
    const sizes = new Map<string, number>()
    const take = async ({ digest, size, file }: { digest: string; size: number; file: string }): Promise<void> => {
      if (!wanted.has(digest)) return
      sizes.set(digest, size)
      await rename(file, join(directory, nameOf(digest)))
    }
    await exportImage(daemon, { id, directory }, take, signal)
    const missing = [...wanted].find((digest) => !sizes.has(digest))
    if (missing !== undefined) {
      throw new EngineError('image-missing', `Docker did not provide the part ${missing.slice(0, 19)} of ${id}`)
    }
    const config = await readFile(join(directory, nameOf(id)))
    return { directory, description: describeImage(config, layers, sizes) }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

/** Pure: writes a manifest of an image whose layers are not compressed. */
function describeImage(config: Buffer, layers: readonly string[], sizes: ReadonlyMap<string, number>): Description {
  const part = (mediaType: string, digest: string) => ({ mediaType, digest, size: sizes.get(digest) ?? 0 })
  const configDigest = digestOf(config)
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestType,
      config: part(configType, configDigest),
      layers: layers.map((digest) => part(layerType, digest)),
    }),
  )
  const digest = digestOf(manifest)
  return {
    digest,
    small: new Map([
      [digest, manifest],
      [configDigest, config],
    ]),
    layerSizes: new Map(layers.map((layer) => [layer, sizes.get(layer) ?? 0])),
  }
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
