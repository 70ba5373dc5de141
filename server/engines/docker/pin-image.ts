import type { Attempt } from '../../lib/attempt.ts'
import type { PinnedImage, RegistryLogin } from '../engine.ts'
import { isImageId, parseReference } from './image-reference.ts'
import { findLocal, inspectPinned, type LocalImage } from './local-images.ts'
import { type Registries, sourceOf } from './registry/registries.ts'
import type { ProblemKind } from './registry-problem.ts'
import { toError, tryOften } from './try-often.ts'

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
  output.line(`${answer.text} The image of that name on the engine is used instead.`, 'warning')
  const { id, repoDigest } = local
  return {
    reference: repoDigest ? `${reference.name}@${repoDigest}` : id,
    digest: repoDigest ?? id,
    isThere: true,
    namedBy: 'engine',
  }
}

/** Throws EngineError if the registry requires a password for the image or cannot be reached. */
export async function assertOpen(registries: Registries, image: string, attempt: Attempt): Promise<void> {
  const reference = parseReference(image)
  const ask = async () => {
    const source = await sourceOf(registries, reference, undefined, attempt.signal)
    return source.digestOf(reference.digest ?? reference.tag ?? 'latest', attempt.signal)
  }
  const answer = await tryOften(registries, reference, attempt, { ask, isEnough: () => true, bytes: () => 0 })
  if (typeof answer !== 'string') throw toError(answer)
}

/**
 * Whether a local image may replace the registry's. A fetched image may while the registry is
 * unavailable. A locally made image may also if the registry has none of that name.
 */
function mayStandIn(problem: ProblemKind, local: LocalImage | undefined): boolean {
  if (!local) return false
  if (problem === 'denied' || problem === 'absent' || problem === 'address') return !local.isForeign
  return problem === 'away' || problem === 'busy' || problem === 'certificate' || problem === 'other'
}
