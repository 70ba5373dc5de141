import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../lib/clock.ts'
import { eachAtOnce } from '../../../lib/each-at-once.ts'
import { RegistryProblem } from '../registry-problem.ts'
import { download, newPart, type Part } from './download.ts'
import type { Blob } from './manifest.ts'
import type { ImageSource } from './source.ts'
import { type Room, unpack } from './unpack.ts'

const atOnce = 3

/** A layer, and the digest that it must have once unpacked. */
export interface Layer {
  readonly blob: Blob
  readonly diffId: string
}

/** The fetched parts of an image; they are kept between tries. */
export class Spool {
  readonly #directory: string
  readonly #parts = new Map<string, Part>()
  /** Unpacked layers, by diff id. */
  readonly done = new Map<string, { readonly file: string; readonly bytes: number }>()

  constructor(directory: string) {
    this.#directory = directory
  }

  partOf(blob: Blob): Part {
    const part = this.#parts.get(blob.digest) ?? newPart(this.#path(blob.digest, 'part'), blob)
    this.#parts.set(blob.digest, part)
    return part
  }

  fileOf(blob: Blob): string {
    return this.#path(blob.digest, 'tar')
  }

  #path(digest: string, kind: string): string {
    return join(this.#directory, `${digest.slice('sha256:'.length)}.${kind}`)
  }
}

export interface LayersOptions {
  readonly source: ImageSource
  readonly clock: Clock
  readonly spool: Spool
  readonly room: Room
  readonly count: (bytes: number) => void
  /** Called for each layer that is complete. */
  readonly done: () => void
}

/**
 * Fetches and unpacks layers, a few at a time. The first failure cancels the others; fetched bytes
 * are kept. Throws RegistryProblem.
 */
export async function fetchLayers(
  layers: readonly Layer[],
  options: LayersOptions,
  signal: AbortSignal,
): Promise<void> {
  const distinct = new Map(layers.map((layer) => [layer.blob.digest, layer]))
  await eachAtOnce([...distinct.values()], atOnce, (layer, bounded) => fetchLayer(layer, options, bounded), signal)
  const missing = layers.find(({ diffId }) => !options.spool.done.has(diffId))
  if (missing) throw new RegistryProblem('form', 'its configuration and its manifest name different layers')
}

async function fetchLayer({ blob, diffId }: Layer, options: LayersOptions, signal: AbortSignal): Promise<void> {
  const { spool, room } = options
  if (spool.done.has(diffId)) return
  const part = spool.partOf(blob)
  await download(part, { ...options, signal })
  const file = spool.fileOf(blob)
  const { diffId: found, bytes } = await unpack(part.file, file, room, signal)
  await rm(part.file, { force: true })
  if (found !== diffId) throw new RegistryProblem('form', 'a layer does not match the configuration of the image')
  spool.done.set(diffId, { file, bytes })
  options.done()
}
