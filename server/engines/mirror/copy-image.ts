import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { createSlots } from '../../lib/slots.ts'
import type { ImageReference } from '../docker/image-reference.ts'
import { aboveFloor } from '../docker/registry/above-floor.ts'
import { download, newPart } from '../docker/registry/download.ts'
import type { Blob } from '../docker/registry/manifest.ts'
import type { RegistryTools } from '../docker/registry/registries.ts'
import { type Sending, sendBlob, trying } from '../docker/registry/send-blob.ts'
import type { ImageSource, WholeManifest } from '../docker/registry/source.ts'
import { blobSize, putManifest } from '../docker/registry/upload.ts'
import { RegistryProblem } from '../docker/registry-problem.ts'
import { toError, tryOften } from '../docker/try-often.ts'

/** Blobs at the same time. */
const atOnce = 3

/** One copy of an image from a repository to another one. */
export interface Copying {
  readonly registries: RegistryTools
  /** Opens the source for each try. */
  readonly source: (signal: AbortSignal) => Promise<ImageSource>
  /** The image there, by its digest. */
  readonly from: ImageReference & { readonly digest: string }
  /** The repository that gets it. */
  readonly to: Pick<Sending, 'client' | 'reference'>
  /** The tag that it gets there. */
  readonly tag: string
}

/**
 * Copies the image of the platform, byte for byte, and returns its digest. Blobs that the target
 * has are skipped. One blob at a time is on the disk for each slot. Throws EngineError.
 */
export async function copyImage(copying: Copying, directory: string, attempt: Attempt): Promise<string> {
  const { registries, to, tag } = copying
  const { signal, output } = attempt
  const { platform } = await registries.settings(signal)
  const image = await reading(
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
  await each(missing, signal, (blob, bounded) =>
    copyBlob(copying, blob, { directory, attempt: { ...attempt, signal: bounded } }),
  )
  const { mediaType, bytes, digest } = image
  await trying(sending, () => putManifest(to.client, { tag, mediaType, bytes }, signal))
  return digest
}

/** The first failure cancels the others. */
async function each(
  blobs: readonly Blob[],
  signal: AbortSignal,
  copy: (blob: Blob, bounded: AbortSignal) => Promise<void>,
): Promise<void> {
  const slots = createSlots(atOnce)
  const failed = new AbortController()
  const bounded = AbortSignal.any([signal, failed.signal])
  const work = blobs.map((blob) =>
    slots
      .run(bounded, () => copy(blob, bounded))
      .catch((error: unknown) => {
        failed.abort(error)
        throw error
      }),
  )
  await Promise.allSettled(work)
  signal.throwIfAborted()
  failed.signal.throwIfAborted()
}

async function copyBlob(
  copying: Copying,
  blob: Blob,
  { directory, attempt }: { readonly directory: string; readonly attempt: Attempt },
): Promise<void> {
  const { registries, to } = copying
  const { clock } = registries
  const part = newPart(join(directory, blob.digest.slice('sha256:'.length)), blob)
  try {
    let bytes = 0
    await reading(
      copying,
      attempt,
      () => bytes,
      (source) =>
        aboveFloor(registries, directory, attempt.signal, (signal) =>
          download(part, {
            source,
            clock,
            signal,
            count: (more) => {
              bytes += more
            },
          }),
        ),
    )
    const read = async (from: number, length: number): Promise<Buffer> => {
      await using handle = await open(part.file)
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, from)
      return buffer.subarray(0, bytesRead)
    }
    await sendBlob({ registries, attempt, ...to }, { ...blob, read })
  } finally {
    await rm(part.file, { force: true })
  }
}

/** Asks the source until it answers, or a retry cannot help. */
async function reading<T>(
  { registries, source, from }: Copying,
  attempt: Attempt,
  bytes: () => number,
  ask: (source: ImageSource) => Promise<T>,
): Promise<T> {
  const answer = await tryOften(registries, from, attempt, {
    ask: async () => ({ value: await ask(await source(attempt.signal)) }),
    isEnough: () => false,
    bytes,
  })
  if ('problem' in answer) throw toError(answer)
  return answer.value
}

/** The sizes are those of compressed layers: nodes unpack them within their own limits. */
function refuseLarge({ config, layers }: WholeManifest, most: number): void {
  const bytes = layers.reduce((sum, { size }) => sum + size, config.size)
  if (bytes <= most) return
  const gibibytes = (size: number): string => `${(size / 1024 ** 3).toFixed(2)} GiB`
  throw new RegistryProblem(
    'size',
    `its size is ${gibibytes(bytes)}, and the limit is ${gibibytes(most)} (QUAYSIDE_IMAGE_SIZE)`,
  )
}
