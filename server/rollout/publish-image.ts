import { EngineError } from '../engines/index.ts'
import { findRelease, setReleaseImage } from '../releases/index.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'

/** The longest time that a deployment waits until an image is published. */
const publishSeconds = 1800

/**
 * Publishes the image of a release if the engine of the cluster does not share images with its
 * builder. Ends when `ahead` is aborted.
 */
export async function publishImage(options: Recipe, work: Work, releaseId: string, ahead?: AbortSignal): Promise<void> {
  if (options.engine.capabilities.images === 'shared') return
  const { step, target } = work
  const bounded = (signal: AbortSignal): AbortSignal => (ahead ? AbortSignal.any([signal, ahead]) : signal)
  await explainLate(
    step(`${target.service_id}/PUBLISH`, ({ signal }) => publish(options, work, releaseId, bounded(signal)), {
      deadlineSeconds: publishSeconds,
    }),
    () =>
      new EngineError(
        'registry-away',
        `The image was not published within ${publishSeconds} s. Check whether the registry of the cluster ` +
          'can be reached, and deploy again.',
      ),
  )
}

async function publish(
  options: Recipe,
  { target, context, report: output }: Work,
  releaseId: string,
  signal: AbortSignal,
): Promise<void> {
  const release = await findRelease(options.database, releaseId)
  if (!release?.image) throw new Error(`release ${releaseId} has no image`)
  const { image } = release
  const published = await whileUnreachable(options, signal, output, () =>
    options.builder.publish(image, target.service_id, { signal, output }),
  )
  output.line(`The image is published as ${published}.`)
  await context.fenced((sql) => setReleaseImage(sql, releaseId, { ...image, published }))
}
