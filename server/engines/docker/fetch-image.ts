import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { sizeText, watchFloor } from '../../lib/disk-floor.ts'
import { EngineError, type EngineReason, type PinnedImage, type RegistryLogin } from '../engine.ts'
import { removeImage } from './disk.ts'
import { type ImageReference, isImageId, parseReference } from './image-reference.ts'
import { findLocal, inspectPinned, type LocalImage, plainName } from './local-images.ts'
import { localName } from './local-name.ts'
import { followPull, type PullProgress } from './pull-progress.ts'
import { fetchLayers, type Layer, Spool } from './registry/fetch-layers.ts'
import { loadImage } from './registry/load-image.ts'
import { readDiffIds } from './registry/manifest.ts'
import { layersOf } from './registry/present-layers.ts'
import { type Registries, sourceOf } from './registry/registries.ts'
import type { ImageSource } from './registry/source.ts'
import type { Room } from './registry/unpack.ts'
import { type ProblemKind, pauseMs, problemText, RegistryProblem } from './registry-problem.ts'

/** Engine.pinImage for Docker. */
export async function pinImage(
  registries: Registries,
  image: string,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<PinnedImage> {
  const { daemon } = registries
  const { signal, output } = attempt
  const known = isImageId(image) ? image : parseReference(image).digest
  if (known !== undefined) {
    const isThere = (await inspectPinned(daemon, image, signal)) !== undefined
    return { reference: image, digest: known, isThere, namedBy: isImageId(image) ? 'engine' : 'registry' }
  }
  const reference = parseReference(image)
  const ask = async () => {
    const source = await sourceOf(registries, reference, login, signal)
    return source.digestOf(reference.tag ?? 'latest', signal)
  }
  const local = await findLocal(daemon, reference, signal)
  const isEnough = (kind: ProblemKind): boolean => mayStandIn(kind, local)
  const answer = await tryOften(registries, reference, attempt, { ask, isEnough, bytes: () => 0 })
  if (typeof answer === 'string') {
    const pinned = `${reference.name}@${answer}`
    const isThere = (await inspectPinned(daemon, pinned, signal)) !== undefined
    return { reference: pinned, digest: answer, isThere, namedBy: 'registry' }
  }
  if (!local || !mayStandIn(answer.problem, local)) throw toError(answer)
  output.line(`${answer.text} The engine has an image of that name, which is used.`, 'warning')
  const { id, repoDigest } = local
  return {
    reference: repoDigest ? `${reference.name}@${repoDigest}` : id,
    digest: repoDigest ?? id,
    isThere: true,
    namedBy: 'engine',
  }
}

/** Engine.fetchImage for Docker. One at a time of each image: whoever waited finds it there. */
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
      `The image ${image.slice(0, 19)} was on this engine only, and is gone. Make it again under its name, and deploy again.`,
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

/** Ends the work when a disk that it writes to gets too full for what runs. */
async function aboveFloor<T>(
  { clock, floorBytes, settings }: Registries,
  directory: string,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<T>,
): Promise<T> {
  const { dataDirectory } = await settings(signal)
  const [controller, over] = [new AbortController(), new AbortController()]
  const error = (floor: number) =>
    new RegistryProblem('disk-full', `less than ${sizeText(floor)} are free (QUAYSIDE_DISK_FLOOR)`)
  const watching = [directory, dataDirectory].map((place) =>
    watchFloor({ directory: place, floorBytes, clock }, { controller, error }, over.signal),
  )
  try {
    return await work(AbortSignal.any([signal, controller.signal]))
  } catch (thrown) {
    signal.throwIfAborted()
    throw controller.signal.aborted ? controller.signal.reason : thrown
  } finally {
    over.abort()
    await Promise.all(watching)
  }
}

interface Fetch {
  readonly source: ImageSource
  readonly progress: PullProgress
  readonly spool: Spool
  readonly room: Room
}

/** Fetches what the engine does not have of the image, and hands it over. */
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
  // An image that had the lower layers may go before it is loaded.
  const isLoaded = await handOver(present).catch((error: unknown) => {
    if (present === 0 || !(error instanceof RegistryProblem) || error.kind !== 'form') throw error
    return false
  })
  if (isLoaded || (present > 0 && (await handOver(0)))) return
  throw new RegistryProblem('form', 'Docker made another image of it')
}

/** Throws EngineError if the registry does not give the image to everybody without a password, or cannot be asked. */
export async function assertOpen(registries: Registries, image: string, attempt: Attempt): Promise<void> {
  const reference = parseReference(image)
  const ask = async () => {
    const source = await sourceOf(registries, reference, undefined, attempt.signal)
    return source.digestOf(reference.digest ?? reference.tag ?? 'latest', attempt.signal)
  }
  const answer = await tryOften(registries, reference, attempt, { ask, isEnough: () => true, bytes: () => 0 })
  if (typeof answer !== 'string') throw toError(answer)
}

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(2)} GiB`
const tooLarge = (bytes: number, most: number): RegistryProblem =>
  new RegistryProblem(
    'size',
    `it takes ${gibibytes(bytes)}, and an image may take ${gibibytes(most)} (QUAYSIDE_IMAGE_SIZE)`,
  )

/** Layers that the engine had count, too. */
async function checkSize({ daemon, maxImageBytes }: Registries, image: string, { signal }: Attempt): Promise<void> {
  const bytes = (await inspectPinned(daemon, image, signal))?.Size ?? 0
  if (bytes <= maxImageBytes) return
  await removeImage(daemon, image, signal)
  const { host } = parseReference(image)
  throw new EngineError('refused', problemText('size', image, host, tooLarge(bytes, maxImageBytes).message))
}

interface Problem {
  readonly problem: ProblemKind
  readonly text: string
}
const reasons: Partial<Record<ProblemKind, EngineReason>> = {
  away: 'registry-away',
  busy: 'registry-away',
  'disk-full': 'disk-full',
  address: 'refused',
  size: 'refused',
}
const toError = ({ problem, text }: Problem): EngineError => new EngineError(reasons[problem] ?? 'image-missing', text)

/** A try that brought so much counts as the first one again. */
const progressBytes = 1024 * 1024

/** Asks until there is an answer, it makes no sense to go on, or `isEnough` says of the problem that it need not be waited out. */
async function tryOften<T>(
  { clock }: Registries,
  { host, name, tag, digest }: ImageReference,
  { signal, output }: Attempt,
  { ask, isEnough, bytes }: { ask: () => Promise<T>; isEnough: (kind: ProblemKind) => boolean; bytes: () => number },
): Promise<T | Problem> {
  const image = digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
  let hadBytes = 0
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      const { kind: problem, message: said } = problemOf(error)
      const text = problemText(problem, image, host, said)
      if (bytes() - hadBytes >= progressBytes) tries = 1
      hadBytes = bytes()
      const pause = isEnough(problem) ? undefined : pauseMs(problem, tries)
      if (pause === undefined) return { problem, text }
      output.line(`${text.replace(/\. [^.]+$/, '.')} Trying again in ${pause / 1000} s.`, 'warning')
      await clock.sleep(pause, signal)
    }
  }
}

/** What is no answer of a registry is thrown on. */
function problemOf(error: unknown): RegistryProblem {
  if (error instanceof RegistryProblem) return error
  if (/^(?:ENOSPC|EDQUOT)$/.test(String(Object(error).code))) {
    return new RegistryProblem('disk-full', 'no space left on device', { cause: error })
  }
  throw error
}

/** An image of the engine stands in for a registry that is away; one that was made here also for a registry that has none. */
function mayStandIn(problem: ProblemKind, local: LocalImage | undefined): boolean {
  if (!local) return false
  if (problem === 'denied' || problem === 'absent' || problem === 'address') return !local.isForeign
  return problem === 'away' || problem === 'busy' || problem === 'certificate' || problem === 'other'
}
