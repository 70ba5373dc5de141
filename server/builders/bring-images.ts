import type { Attempt } from '../lib/attempt.ts'
import type { BuildPlan } from './build-plan.ts'
import { type BaseImages, type BroughtImage, BuildError, type BuildRecipe } from './builder.ts'
import { checkTriggers } from './dockerfile-check.ts'

/** The images that one build uses, held until they are disposed. */
export interface BroughtImages extends AsyncDisposable {
  /** References for the engine, by the image's name in the Dockerfile. */
  readonly references: ReadonlyMap<string, string>
}

/**
 * Brings each image that the build needs, once. Checks the ONBUILD instructions of images that
 * stages begin with. Throws BuildError.
 */
export async function bringImages(
  baseImages: BaseImages,
  plan: BuildPlan,
  { dockerfile, organization }: BuildRecipe,
  attempt: Attempt,
): Promise<BroughtImages> {
  const brought = new Map<string, BroughtImage>()
  // If the engine dies, both the build and the release fail. Only the build's error is reported.
  const dispose = async (): Promise<void> => {
    const all = [...brought.values()]
    brought.clear()
    await Promise.allSettled(all.map((one) => one.release?.()))
  }
  try {
    for (const { image, line, isBase } of plan.needed) {
      const one = await baseImages.bring(image, organization, attempt)
      brought.set(image, one)
      if (isBase) checkTriggers(one.onBuild, image, { path: dockerfile, line })
      attempt.signal.throwIfAborted()
    }
  } catch (error) {
    await dispose()
    throw error
  }
  const references = new Map([...brought].map(([image, { reference }]) => [image, reference]))
  return { references, [Symbol.asyncDispose]: dispose }
}

/**
 * Runs the work. Replaces references of images in log lines and errors by their names in the
 * Dockerfile.
 */
export async function keepNames<T>(
  { references }: BroughtImages,
  { signal, output }: Attempt,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const names = [...references].filter(([name, reference]) => name !== reference)
  const named = (text: string): string =>
    names.reduce((shown, [name, reference]) => shown.replaceAll(reference, () => name), text)
  try {
    return await work({ signal, output: { line: (text, level) => output.line(named(text), level) } })
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    throw new BuildError(error.reason, named(error.message), { cause: error.cause })
  }
}

/** Base images for engines of tests, which have every image under its own name. */
export const imagesByName: BaseImages = { bring: async (image) => ({ reference: image, onBuild: [] }) }
