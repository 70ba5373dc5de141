import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { EngineError, type PublishedImage, type RegistryTarget } from '../engine.ts'
import { type ImageReference, parseReference } from './image-reference.ts'
import { type InspectedImage, inspectImage, inspectPinned } from './local-images.ts'
import { aboveFloor } from './registry/above-floor.ts'
import type { RegistryClient } from './registry/client.ts'
import { exportImage } from './registry/export-image.ts'
import { type Registries, targetOf } from './registry/registries.ts'
import { blobSize, type OutgoingBlob, putManifest, tryUpload, type UploadState, uploadBlob } from './registry/upload.ts'
import { type ProblemKind, pushProblemText, RegistryProblem } from './registry-problem.ts'
import { type Problem, toError, tryPush } from './try-often.ts'

const mostPlaces = 10_000
/** How long a registry may take to answer a check. */
const patienceSeconds = 20
const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const configType = 'application/vnd.oci.image.config.v1+json'
/** Layers are sent as Docker stores them, because their digests are known before they are read. */
const layerType = 'application/vnd.oci.image.layer.v1.tar'

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

/**
 * Returns why images cannot be pushed to a repository now, with what to do. Undefined if they can.
 */
export async function pushProblem(
  registries: Registries,
  target: RegistryTarget,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reference = parseReference(target.repository)
  const deadline = startDeadline(patienceSeconds * 1000, signal)
  const problem = (kind: ProblemKind, said: string) => pushProblemText(kind, reference.name, reference.host, said)
  try {
    await tryUpload(await targetOf(registries, reference, target.login, deadline.signal), deadline.signal)
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.isOver) return problem('away', `no answer within ${patienceSeconds} s`)
    if (error instanceof EngineError) return error.message
    if (!(error instanceof RegistryProblem)) throw error
    return problem(error.kind, error.message)
  }
}

interface Push {
  readonly registries: Registries
  readonly client: RegistryClient
  readonly reference: ImageReference
  readonly attempt: Attempt
}

/** Built images have a tag of this engine only. Fetched images are pinned by digest. */
const inspectAny = (
  { daemon }: Registries,
  image: string,
  signal: AbortSignal,
): Promise<(InspectedImage & { readonly RootFS?: { readonly Layers?: readonly string[] } }) | undefined> =>
  image.includes('@') ? inspectPinned(daemon, image, signal) : inspectImage(daemon, image, signal)

async function trying<T>({ registries, reference, attempt }: Push, ask: () => Promise<T>): Promise<T> {
  const answer: { readonly value: T } | Problem = await tryPush(registries, reference, attempt, async () => ({
    value: await ask(),
  }))
  if ('problem' in answer) throw toError(answer)
  return answer.value
}

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
          await send({ ...push, attempt: { ...attempt, signal } }, blob)
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

/** Uploads a blob. Before a retry it asks the registry, because the failed try may have worked. */
async function send(push: Push, blob: OutgoingBlob): Promise<void> {
  const { client, reference, registries, attempt } = push
  const { signal } = attempt
  const repository = reference.name.slice(reference.host.length + 1)
  const from = registries.places.get(`${reference.host} ${blob.digest}`)
  const state: UploadState = {}
  let isFirst = true
  await trying(push, async () => {
    if (!isFirst && (await blobSize(client, blob.digest, signal)) !== undefined) return
    isFirst = false
    await uploadBlob(client, blob, { state, from: from === repository ? undefined : from, signal })
  })
  remember(registries.places, `${reference.host} ${blob.digest}`, repository)
}

/** Drops the oldest entry when full. Its blob is then uploaded instead of mounted. */
function remember(places: Map<string, string>, blob: string, repository: string): void {
  places.set(blob, repository)
  const [oldest] = places.keys()
  if (places.size > mostPlaces && oldest !== undefined) places.delete(oldest)
}
