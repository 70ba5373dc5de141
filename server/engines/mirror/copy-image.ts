import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { eachAtOnce } from '../../lib/each-at-once.ts'
import { newPart } from '../docker/registry/download.ts'
import { readInto } from '../docker/registry/export-image.ts'
import type { Blob } from '../docker/registry/manifest.ts'
import { type Sending, sendBlob, trying } from '../docker/registry/send-blob.ts'
import type { WholeManifest } from '../docker/registry/source.ts'
import { tooLarge } from '../docker/registry/too-large.ts'
import { blobSize, putManifest } from '../docker/registry/upload.ts'
import { asking, type Reading, receivePart } from './read-image.ts'

/** Blobs at the same time. */
const atOnce = 3

/** One copy of an image from a repository to another one. */
export interface Copying extends Reading {
  /** The repository that gets it. */
  readonly to: Pick<Sending, 'client' | 'reference'>
  /** The tag that it gets there. */
  readonly tag: string
  /**
   * The path of the source if it is a repository of the same registry that the platform has filled
   * itself. The registry then takes blobs from there, and nothing is sent.
   */
  readonly mountable?: string
}

/**
 * Copies the image for this machine's platform, byte for byte, and returns its digest. Blobs that
 * the target has are skipped. At most three are on the disk at a time. Throws EngineError.
 */
export async function copyImage(copying: Copying, directory: string, attempt: Attempt): Promise<string> {
  const { registries, to, tag } = copying
  const { signal, output } = attempt
  const { platform } = await registries.settings(signal)
  const image = await asking(
    copying,
    attempt,
    () => 0,
    async (source) => {
      const found = await source.manifest(copying.from.digest, platform, signal)
      refuseLarge(found, registries.maxImageBytes)
      return found
    },
  )
  const sending = { registries, attempt, ...to }
  const blobs = [...new Map([image.config, ...image.layers].map((blob) => [blob.digest, blob])).values()]
  const sizes = await Promise.all(blobs.map((blob) => trying(sending, () => blobSize(to.client, blob.digest, signal))))
  const missing = blobs.filter((_, index) => sizes[index] === undefined)
  output.line(`Copying the image to ${to.reference.name}: ${missing.length} of ${blobs.length} parts are new.`)
  const copyOne = (blob: Blob, bounded: AbortSignal): Promise<void> =>
    copyBlob(copying, blob, { directory, attempt: { ...attempt, signal: bounded } })
  await eachAtOnce(missing, atOnce, copyOne, signal)
  const { mediaType, bytes, digest } = image
  await trying(sending, () => putManifest(to.client, { tag, mediaType, bytes }, signal))
  return digest
}

async function copyBlob(
  copying: Copying,
  blob: Blob,
  { directory, attempt }: { readonly directory: string; readonly attempt: Attempt },
): Promise<void> {
  const { registries, to, mountable } = copying
  const part = newPart(join(directory, blob.digest.slice('sha256:'.length)), blob)
  let loading: Promise<void> | undefined
  const load = (): Promise<void> => {
    loading ??= receivePart(copying, part, attempt)
    return loading
  }
  const read = async (from: number, into: Buffer): Promise<Buffer> => {
    await load()
    return readInto(part.file, from, into)
  }
  try {
    // A digest in a manifest proves nothing: who does not have the blob must not get it mounted.
    if (mountable === undefined) await load()
    await sendBlob({ registries, attempt, ...to }, { ...blob, read }, mountable)
  } finally {
    await rm(part.file, { force: true })
  }
}

/** Counts compressed layers. Nodes unpack them within their own limits. */
export function refuseLarge({ config, layers }: WholeManifest, most: number): void {
  const bytes = layers.reduce((sum, { size }) => sum + size, config.size)
  if (bytes > most) throw tooLarge(bytes, most)
}
