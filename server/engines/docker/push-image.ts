import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type PublishedImage, type RegistryTarget } from '../engine.ts'
import { parseReference } from './image-reference.ts'
import { type InspectedImage, inspectImage, inspectPinned } from './local-images.ts'
import { aboveFloor } from './registry/above-floor.ts'
import { exportImage } from './registry/export-image.ts'
import { type Registries, targetOf } from './registry/registries.ts'
import { type Sending, sendBlob, trying } from './registry/send-blob.ts'
import { blobSize, putManifest } from './registry/upload.ts'
import { configType, layerType, manifestType } from './registry/written-manifest.ts'

/**
 * Pushes an image of this engine to a registry and returns its reference there. Skips blobs that
 * the registry already has. Throws EngineError.
 */
export async function pushImage(
  registries: Registries,
  image: string,
  target: RegistryTarget,
  attempt: Attempt,
): Promise<PublishedImage> {
  const found = await inspectAny(registries, image, attempt.signal)
  if (!found) {
    throw new EngineError('image-missing', `The image ${image.slice(0, 200)} is no longer on the engine. Deploy again.`)
  }
  const reference = parseReference(target.repository)
  const diffIds = found.RootFS?.Layers ?? []
  const client = await targetOf(registries, reference, target.login, attempt.signal)
  const push = { client, reference, attempt, registries }
  const sizes = await sizesAt(push, [found.Id, ...diffIds])
  const missing = new Set([found.Id, ...diffIds].filter((digest) => !sizes.has(digest)))
  attempt.output.line(
    `Publishing the image to ${reference.name}: ${missing.size} of ${diffIds.length + 1} parts are new.`,
  )
  if (missing.size > 0) await sendMissing(push, found.Id, { missing, sizes })
  const [lost] = missing
  if (lost !== undefined) {
    const text =
      `The image ${image.slice(0, 200)} cannot be published: Docker did not provide its part ` + `${lost.slice(0, 19)}.`
    throw new EngineError('refused', `${text} Switch Docker from the image store of containerd to its own.`)
  }
  const describe = (mediaType: string, digest: string) => ({ mediaType, digest, size: sizes.get(digest) ?? 0 })
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: describe(configType, found.Id),
    layers: diffIds.map((diffId) => describe(layerType, diffId)),
  }
  const bytes = Buffer.from(JSON.stringify(manifest))
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  // Registries may remove manifests without a tag.
  const named = { tag: digest.replace(':', '-'), mediaType: manifestType, bytes }
  await trying(push, () => putManifest(client, named, attempt.signal))
  return { reference: `${reference.name}@${digest}`, digest }
}

interface Push extends Sending {
  readonly registries: Registries
}

/** Built images have a tag of this engine only. Fetched images are pinned by digest. */
const inspectAny = (
  { daemon }: Registries,
  image: string,
  signal: AbortSignal,
): Promise<(InspectedImage & { readonly RootFS?: { readonly Layers?: readonly string[] } }) | undefined> =>
  image.includes('@') ? inspectPinned(daemon, image, signal) : inspectImage(daemon, image, signal)

/** Returns the sizes of the blobs that the repository already has. */
async function sizesAt(push: Push, digests: readonly string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const digest of new Set(digests)) {
    const size = await trying(push, () => blobSize(push.client, digest, push.attempt.signal))
    if (size !== undefined) sizes.set(digest, size)
  }
  return sizes
}

/** Sends the missing blobs. Removes each from `missing` once the registry has it. */
async function sendMissing(
  push: Push,
  id: string,
  { missing, sizes }: { readonly missing: Set<string>; readonly sizes: Map<string, number> },
): Promise<void> {
  const { registries, attempt } = push
  const directory = await mkdtemp(join(await registries.spoolDirectory(), 'push-'))
  try {
    await aboveFloor(registries, directory, attempt.signal, (signal) =>
      exportImage(
        registries.daemon,
        { id, directory },
        async (blob) => {
          if (!missing.has(blob.digest)) return
          await sendBlob({ ...push, attempt: { ...attempt, signal } }, blob)
          missing.delete(blob.digest)
          sizes.set(blob.digest, blob.size)
        },
        signal,
      ),
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
