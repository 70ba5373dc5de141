import { EngineError } from '../../engines/index.ts'
import type { Attempt } from '../../lib/attempt.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import type { BuildOrder } from '../build-order.ts'
import { BuildError } from '../builder.ts'
import type { EngineFacts } from './engine-facts.ts'
import type { HeldBuildKit, OwnBuildKit } from './own-buildkit.ts'

/** Owner of builds without an organization. */
const nobody = 'none'

/**
 * Holds the platform's own BuildKit for a build, or returns why the engine's must be used. Dispose
 * of the held one. Throws BuildError if the engine is away or its disk is full.
 */
export async function chooseBuildKit(
  own: OwnBuildKit | undefined,
  { storesInContainerd }: Pick<EngineFacts, 'storesInContainerd'>,
  { recipe, limits }: BuildOrder,
  attempt: Attempt,
): Promise<HeldBuildKit | { readonly why: string }> {
  if (!own) return { why: 'it is switched off.' }
  // Such an engine loads an image only with all layers of its base images.
  if (storesInContainerd) return { why: 'this engine uses the image store of containerd.' }
  try {
    return await own.hold(recipe.organization ?? nobody, limits, attempt)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.reason === 'unreachable' || error.reason === 'disk-full') {
      throw new BuildError(error.reason, `${withoutFullStop(error.message)}. Deploy again.`, { cause: error })
    }
    attempt.output.line(`The BuildKit of the Docker Engine builds this image. ${error.message}`, 'warning')
    return { why: error.message }
  }
}
