import { EngineError } from '../../engines/index.ts'
import { messageOf } from '../../lib/error.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import type { BuildOrder } from '../build-order.ts'
import { BuildError, type Image } from '../builder.ts'
import { explainFailure } from '../explain-failure.ts'
import { imageSizeError } from './disk-floor.ts'
import { inspectImage, removeTag } from './docker-images.ts'
import { type BuildWork, wroteTooMuch } from './engine-build.ts'
import type { EngineFacts } from './engine-facts.ts'
import type { HeldBuildKit } from './own-buildkit.ts'

/**
 * Builds an image on the BuildKit of its organization, and loads it into the Docker Engine. Throws
 * BuildError.
 */
export async function buildOnOwn(
  { docker, maxImageBytes }: Pick<EngineFacts, 'docker' | 'maxImageBytes'>,
  held: HeldBuildKit,
  { source, order, references, attempt }: BuildWork,
): Promise<Image> {
  const { buildOnDaemon } = await import('../buildkit/run-solve.ts')
  if (held.isolationProblem !== undefined) {
    attempt.output.line(
      `This build is not isolated from builds of other organizations: ${held.isolationProblem}`,
      'warning',
    )
  }
  try {
    await using opened = new AsyncDisposableStack()
    const bases = []
    for (const reference of references) {
      bases.push({ reference, image: opened.use(await held.images.open(idOf(reference), attempt)) })
    }
    const open = { openDaemon: held.open, receive: held.receive, bases }
    await buildOnDaemon({ ...open, tag: order.tag, isUnpacked: true, isLimited: true }, source, order, attempt)
    return await checked({ docker, maxImageBytes }, order, attempt.signal)
  } catch (error) {
    const failed: unknown = attempt.signal.aborted ? attempt.signal.reason : explain(error, order)
    if (failed instanceof BuildError && wroteTooMuch.has(failed.reason)) {
      await held.clearCache(AbortSignal.timeout(clearMs)).catch((problem: unknown) => {
        attempt.output.line(`Could not remove the build's leftovers: ${messageOf(problem)}`, 'warning')
      })
    }
    throw failed
  }
}

const clearMs = 60_000

/** The reference of a held base image ends with its id. */
function idOf(reference: string): string {
  const hex = /-([0-9a-f]{64})$/.exec(reference)?.[1]
  if (hex === undefined) throw new Error(`${reference} does not name a base image of the engine`)
  return `sha256:${hex}`
}

/** Returns the loaded image. Removes it if it is too large, with the layers of its base images. */
async function checked(
  { docker, maxImageBytes }: Pick<EngineFacts, 'docker' | 'maxImageBytes'>,
  { tag }: BuildOrder,
  signal: AbortSignal,
): Promise<Image> {
  const image = await inspectImage(docker, tag)
  if (!image) throw new BuildError('unreachable', 'The engine lost the image right after the build. Deploy again.')
  if (image.Size <= maxImageBytes) return { reference: tag, digest: image.Id }
  await removeTag(docker, tag, signal)
  throw imageSizeError(image.Size, maxImageBytes)
}

function explain(error: unknown, { recipe }: BuildOrder): unknown {
  const isOfImage = error instanceof BuildError && error.cause instanceof EngineError
  if (isOfImage && /max depth exceeded/.test(error.message)) {
    return explainFailure({ error: error.message, step: undefined, recipe, limited: true })
  }
  if (!(error instanceof EngineError)) return error
  const reason = error.reason === 'disk-full' || error.reason === 'unreachable' ? error.reason : 'failed'
  return new BuildError(reason, `${withoutFullStop(error.message)}. Deploy again.`, { cause: error })
}
