import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type RegistryLogin } from '../engine.ts'
import { removeImage } from './disk.ts'
import { type ImageReference, isImageId, parseReference } from './image-reference.ts'
import { inspectPinned, plainName } from './local-images.ts'
import { localName } from './local-name.ts'
import { followPull, type PullProgress } from './pull-progress.ts'
import { aboveFloor } from './registry/above-floor.ts'
import { fetchLayers, type Layer, Spool } from './registry/fetch-layers.ts'
import { loadImage } from './registry/load-image.ts'
import { readDiffIds } from './registry/manifest.ts'
import { layersOf } from './registry/present-layers.ts'
import { type Registries, sourceOf } from './registry/registries.ts'
import type { ImageSource } from './registry/source.ts'
import { tooLarge } from './registry/too-large.ts'
import type { Room } from './registry/unpack.ts'
import { problemText, RegistryProblem } from './registry-problem.ts'
import { toError, tryOften } from './try-often.ts'

/**
 * Engine.fetchImage for Docker. Fetches each image once at a time; a caller that waited finds it on
 * the engine.
 */
export async function fetchImage(
  registries: Registries,
  image: string,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<void> {
  const { daemon, fetching } = registries
  if ((await inspectPinned(daemon, image, attempt.signal)) !== undefined) return
  if (isImageId(image)) {
    throw new EngineError(
      'image-missing',
      `The image ${image.slice(0, 19)} was only on this engine and no longer exists. Build it again under its name, ` +
        'and deploy again.',
    )
  }
  using _ = await fetching.take(plainName(image), attempt.signal)
  if ((await inspectPinned(daemon, image, attempt.signal)) !== undefined) return
  await bring(registries, image, login, attempt)
}

async function bring(
  registries: Registries,
  image: string,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<void> {
  const reference = parseReference(image)
  const directory = await mkdtemp(join(await registries.spoolDirectory(), 'image-'))
  try {
    const progress = followPull(attempt.output, registries.clock)
    const spool = new Spool(directory)
    const room: Room = { leftBytes: registries.maxImageBytes }
    const ask = () =>
      aboveFloor(registries, directory, attempt.signal, async (signal) => {
        const source = await sourceOf(registries, reference, login, signal)
        await fetchAndLoad(registries, reference, { source, progress, spool, room }, signal)
        return 'fetched'
      })
    const answer = await tryOften(registries, reference, attempt, {
      ask,
      isEnough: () => false,
      bytes: () => progress.bytes,
    })
    if (typeof answer !== 'string') throw toError(answer)
    await checkSize(registries, image, attempt)
    progress.end()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

interface Fetch {
  readonly source: ImageSource
  readonly progress: PullProgress
  readonly spool: Spool
  readonly room: Room
}

/** Fetches the missing parts of the image, and loads it into the engine. */
async function fetchAndLoad(
  registries: Registries,
  reference: ImageReference,
  { source, progress, spool, room }: Fetch,
  signal: AbortSignal,
): Promise<void> {
  const { daemon, clock, maxImageBytes } = registries
  const { platform } = await registries.settings(signal)
  const manifest = await source.manifest(reference.digest ?? '', platform, signal)
  const config = await source.small(manifest.config, signal)
  const diffIds = readDiffIds(config, manifest.layers.length)
  const layers: Layer[] = manifest.layers.flatMap((blob, index) => {
    const diffId = diffIds[index]
    return diffId === undefined ? [] : [{ blob, diffId }]
  })
  const tag = localName(plainName(`${reference.name}@${reference.digest}`))
  const handOver = async (present: number): Promise<boolean> => {
    const missing = layers.slice(present)
    const bytes = missing.reduce((sum, { blob }) => sum + blob.size, 0)
    if (bytes > maxImageBytes) throw tooLarge(bytes, maxImageBytes)
    progress.begin(layers.length, present)
    const done = (): void => progress.layer()
    await fetchLayers(missing, { source, clock, spool, room, count: progress.count, done }, signal)
    await loadImage(daemon, { tag, config, diffIds, layers: spool.done }, signal)
    const loaded = await layersOf(daemon, tag, signal)
    return loaded?.join() === diffIds.join()
  }
  const present = await registries.present.count(diffIds, reference.name, signal)
  // An image that had the lower layers may be removed before this one is loaded.
  const isLoaded = await handOver(present).catch((error: unknown) => {
    if (present === 0 || !(error instanceof RegistryProblem) || error.kind !== 'form') throw error
    return false
  })
  if (isLoaded || (present > 0 && (await handOver(0)))) return
  throw new RegistryProblem('form', 'Docker loaded a different image from it')
}

/** Layers that the engine already had count, too. */
async function checkSize({ daemon, maxImageBytes }: Registries, image: string, { signal }: Attempt): Promise<void> {
  const bytes = (await inspectPinned(daemon, image, signal))?.Size ?? 0
  if (bytes <= maxImageBytes) return
  await removeImage(daemon, image, signal)
  const { host } = parseReference(image)
  throw new EngineError('refused', problemText('size', image, host, tooLarge(bytes, maxImageBytes).message))
}
