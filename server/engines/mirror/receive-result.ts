import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { parseForeign } from '../../lib/foreign-json.ts'
import { createKeyedSlots } from '../../lib/keyed-slots.ts'
import type { ImageReference } from '../docker/image-reference.ts'
import { aboveFloor } from '../docker/registry/above-floor.ts'
import type { RegistryClient } from '../docker/registry/client.ts'
import { readInto } from '../docker/registry/export-image.ts'
import { mostManifestBytes, readManifest } from '../docker/registry/manifest.ts'
import type { RegistryTools } from '../docker/registry/registries.ts'
import { sendBlob, trying } from '../docker/registry/send-blob.ts'
import { tooLarge } from '../docker/registry/too-large.ts'
import { blobSize, type OutgoingBlob, putManifest } from '../docker/registry/upload.ts'
import { pushProblemText, RegistryProblem } from '../docker/registry-problem.ts'
import { toError } from '../docker/try-often.ts'
import type { EngineError } from '../engine-error.ts'
import { imageConfig } from './image-config.ts'
import { openPart } from './open-part.ts'
import { createPartSizes, lied } from './part-sizes.ts'

/** Receives the parts of one image from a builder, which is not trusted, and stores them. */
export interface ResultReceiver extends AsyncDisposable {
  /** Stores a part of a base image, which the server has itself. Throws EngineError. */
  add(part: OutgoingBlob): Promise<void>
  /**
   * Begins a part. Undefined if the repository has it. Throws EngineError for too many or too large
   * ones.
   */
  begin(digest: string, size: number): Promise<IncomingPart | undefined>
  /**
   * Stores the image under the tag once all its parts have arrived. Throws EngineError if one is
   * missing, or if the labels are not there.
   */
  finish(
    manifest: string,
    tag: string,
    labels: Readonly<Record<string, string>>,
  ): Promise<{ readonly id: string; readonly builtAt: Date }>
}

/** A part of which bytes arrive. */
export interface IncomingPart {
  /** Adds bytes at the end. Throws EngineError for more than announced. */
  write(bytes: Uint8Array): Promise<void>
  /** Checks and stores the part. Throws EngineError. */
  commit(): Promise<void>
  /** Forgets what has not been stored. */
  close(): Promise<void>
}

export interface ReceiverOptions {
  readonly registries: RegistryTools
  readonly client: RegistryClient
  readonly reference: ImageReference
  readonly attempt: Attempt
  /** For this image alone. Removed at the end. */
  readonly directory: string
}

export function openReceiver(options: ReceiverOptions): ResultReceiver {
  const { registries, client, reference, attempt, directory } = options
  const sending = { registries, client, reference, attempt }
  /** Parts that the repository has. */
  const stored = new Set<string>()
  /** Files of small parts, one of which is the manifest. */
  const kept = new Map<string, string>()
  const parts = createPartSizes((bytes) => {
    if (bytes > registries.maxImageBytes) throw problemAt(reference, tooLarge(bytes, registries.maxImageBytes))
  })
  const alone = createKeyedSlots()
  const fileOf = (digest: string): string => join(directory, digest.slice('sha256:'.length))
  const send = async (digest: string, size: number): Promise<void> => {
    const file = fileOf(digest)
    await sendBlob(sending, { digest, size, read: (from, into) => readInto(file, from, into) })
    stored.add(digest)
  }
  const isThere = async (digest: string): Promise<boolean> =>
    stored.has(digest) || (await trying(sending, () => blobSize(client, digest, attempt.signal))) !== undefined
  return {
    async add(part) {
      parts.announce(part.digest, part.size)
      if (!(await isThere(part.digest))) await sendBlob(sending, part)
      stored.add(part.digest)
    },
    async begin(digest, size) {
      parts.announce(digest, size)
      if (stored.has(digest)) return undefined
      if (size > mostManifestBytes && (await isThere(digest))) {
        stored.add(digest)
        return undefined
      }
      const turn = await alone.take(digest, attempt.signal)
      if (stored.has(digest) || kept.has(digest)) {
        turn[Symbol.dispose]()
        return undefined
      }
      const file = await openPart({ path: fileOf(digest), digest, size, turn })
      return {
        write: (bytes) =>
          aboveFloor(registries, directory, attempt.signal, () => file.write(bytes)).catch((error: unknown) => {
            throw error instanceof RegistryProblem ? problemAt(reference, error) : error
          }),
        close: () => file.close(),
        commit: async () => {
          await file.finish()
          if (size <= mostManifestBytes) return void kept.set(digest, fileOf(digest))
          await send(digest, size)
          await rm(fileOf(digest), { force: true })
        },
      }
    },
    async finish(manifest, tag, labels) {
      const file = kept.get(manifest)
      if (file === undefined) throw lied('no manifest')
      const bytes = await readFile(file)
      const { platform } = await registries.settings(attempt.signal)
      const image = readManifest(bytes, platform)
      if ('digest' in image) throw lied('a list of images')
      for (const { digest, size } of [image.config, ...image.layers]) {
        if (parts.sizeOf(digest) !== size) throw lied('an image whose parts it did not send')
        if (kept.has(digest) && !stored.has(digest)) await send(digest, size)
        if (!stored.has(digest)) throw lied('an image whose parts it did not send')
      }
      const config = imageConfig(await readFile(kept.get(image.config.digest) ?? file))
      for (const [name, value] of Object.entries(labels)) {
        if (config.labels[name] !== value) throw lied(`an image without the label ${name}`)
      }
      const { mediaType } = image
      const own = { tag, mediaType, bytes: annotated(bytes, tag) }
      await trying(sending, () => putManifest(client, own, attempt.signal))
      return { id: image.config.digest, builtAt: config.created ?? registries.clock.now() }
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Adds the tag to a manifest, so that no other tag has the same one. */
export function annotated(bytes: Buffer, tag: string): Buffer {
  const manifest = Object(parseForeign(bytes))
  return Buffer.from(JSON.stringify({ ...manifest, annotations: { 'quayside.tag': tag } }))
}

const problemAt = ({ name, host }: ImageReference, { kind, message }: RegistryProblem): EngineError =>
  toError({ problem: kind, text: pushProblemText(kind, name, host, message) })
