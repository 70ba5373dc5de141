import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type EngineReason, type PinnedImage, type RegistryLogin } from '../engine.ts'
import { type Asking, askDigest, inspectImage, pull, type Said } from './ask-registry.ts'
import type { DockerDaemon } from './daemon.ts'
import { removeImage } from './disk.ts'
import { type ImageReference, isImageId, parseReference } from './image-reference.ts'
import { label } from './labels.ts'
import { type ProblemKind, pauseMs, problemKind, problemText } from './registry-problem.ts'
import type { Host } from './start.ts'

/** What is needed to have an image fetched. */
type Fetching = Asking & Pick<Host, 'maxImageBytes'>

/** Engine.pinImage for Docker: the daemon asks the registry, so that what holds for its pulls holds for this. */
export async function pinImage(
  host: Asking,
  image: string,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<PinnedImage> {
  const { daemon } = host
  const { signal, output } = attempt
  const known = isImageId(image) ? image : parseReference(image).digest
  if (known !== undefined) {
    const isThere = (await inspectImage(daemon, isImageId(image) ? image : pathOf(image), signal)) !== undefined
    return { reference: image, digest: known, isThere, namedBy: isImageId(image) ? 'engine' : 'registry' }
  }
  const reference = parseReference(image)
  const ask = () => askDigest(host, reference, login, signal)
  const local = await findLocal(daemon, reference, signal)
  const answer = await tryOften(host, reference, attempt, { ask, isEnough: (kind) => mayStandIn(kind, local) })
  if (!('problem' in answer)) {
    const pinned = `${reference.name}@${answer.digest}`
    const isThere = (await inspectImage(daemon, pinned, signal)) !== undefined
    return { reference: pinned, digest: answer.digest, isThere, namedBy: 'registry' }
  }
  if (!local || !mayStandIn(answer.problem, local)) throw toError(answer)
  output.line(`${answer.text} The engine has an image of that name, which is used.`, 'warning')
  const digest = local.repoDigest ?? local.id
  return {
    reference: local.repoDigest ? `${reference.name}@${digest}` : local.id,
    digest,
    isThere: true,
    namedBy: 'engine',
  }
}

/** Engine.fetchImage for Docker: what the daemon gets for a digest it checks against the digest. */
export async function fetchImage(
  host: Fetching,
  image: string,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<void> {
  if ((await inspectImage(host.daemon, isImageId(image) ? image : pathOf(image), attempt.signal)) !== undefined) return
  if (isImageId(image)) {
    throw new EngineError(
      'image-missing',
      `The image ${image.slice(0, 19)} was on this engine only, and is gone. Make it again under its name, and deploy again.`,
    )
  }
  const reference = parseReference(image)
  const ask = () => pull(host, reference, login, attempt)
  const answer = await tryOften(host, reference, attempt, { ask, isEnough: () => false })
  if ('problem' in answer) throw toError(answer)
  await checkSize(host, image, attempt)
}

/** Its registry tells no size that could be trusted before. */
async function checkSize({ daemon, maxImageBytes }: Fetching, image: string, { signal }: Attempt): Promise<void> {
  const bytes = (await inspectImage(daemon, pathOf(image), signal))?.Size ?? 0
  if (bytes <= maxImageBytes) return
  await removeImage(daemon, image, signal)
  const [taken, allowed] = [bytes, maxImageBytes].map((size) => `${(size / 1024 ** 3).toFixed(2)} GiB`)
  throw new EngineError(
    'refused',
    `The image ${image} takes ${taken}, and an image may take ${allowed} (QUAYSIDE_IMAGE_SIZE); it was removed. Use a smaller one, and deploy again.`,
  )
}

const pathOf = (image: string): string => {
  const { name, tag, digest } = parseReference(image)
  return digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
}

interface Problem {
  readonly problem: ProblemKind
  readonly text: string
}
const reasons: Partial<Record<ProblemKind, EngineReason>> = {
  away: 'registry-away',
  busy: 'registry-away',
  'disk-full': 'disk-full',
}
const toError = ({ problem, text }: Problem): EngineError => new EngineError(reasons[problem] ?? 'image-missing', text)

/** Asks until there is an answer, it makes no sense to go on, or `isEnough` says of the problem that it need not be waited out. */
async function tryOften<T extends object>(
  { clock }: Asking,
  { host, name, tag, digest }: ImageReference,
  { signal, output }: Attempt,
  { ask, isEnough }: { ask: () => Promise<T | Said>; isEnough: (kind: ProblemKind) => boolean },
): Promise<T | Problem> {
  const image = digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (!('said' in answer)) return answer
    const problem = problemKind(answer.said)
    const text = problemText(problem, image, host, answer.said)
    const pause = isEnough(problem) ? undefined : pauseMs(problem, tries)
    if (pause === undefined) return { problem, text }
    output.line(`${text.replace(/\. [^.]+$/, '.')} Trying again in ${pause / 1000} s.`, 'warning')
    await clock.sleep(pause, signal)
  }
}

interface LocalImage {
  readonly id: string
  /** The digest under which it came from the registry. */
  readonly repoDigest: string | undefined
  /** Whether it came from any registry. */
  readonly isForeign: boolean
}

/** An image of the engine stands in for a registry that is away; one that was made here also for a registry that has none. */
function mayStandIn(problem: ProblemKind, local: LocalImage | undefined): boolean {
  if (!local) return false
  if (problem === 'denied' || problem === 'absent') return !local.isForeign
  return problem === 'away' || problem === 'busy' || problem === 'other'
}

/** What was built for a service is nobody else's: it cannot be had by its name. */
async function findLocal(
  daemon: DockerDaemon,
  { name, tag }: ImageReference,
  signal: AbortSignal,
): Promise<LocalImage | undefined> {
  const found = await inspectImage(daemon, `${name}:${tag ?? 'latest'}`, signal)
  if (!found || found.Config?.Labels?.[label.service] !== undefined) return undefined
  const digests = (found.RepoDigests ?? []).map((text) => parseReference(text))
  return {
    id: found.Id,
    repoDigest: digests.find((one) => one.name === name)?.digest,
    isForeign: digests.length > 0,
  }
}
