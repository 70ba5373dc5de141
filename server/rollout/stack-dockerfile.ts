import { BuildError } from '../builders/index.ts'
import type { Checkout } from '../git/index.ts'
import { withoutEnds } from '../lib/trim.ts'
import type { Build } from '../releases/index.ts'
import { chooseRunner, stackDockerfile } from '../stacks/index.ts'
import type { Recipe } from './recipe.ts'

/**
 * Returns the Dockerfile of a stack, with the fragment of its settings or of its repository. Throws
 * BuildError if no image has its engine, or if the fragment is missing.
 */
export async function stackDockerfileOf(
  { runnerImages }: Pick<Recipe, 'runnerImages'>,
  stack: NonNullable<Build['stack']>,
  checkout: Pick<Checkout, 'readFile'>,
  signal: AbortSignal,
): Promise<string> {
  const runner = chooseRunner(runnerImages, stack)
  if ('refusal' in runner) throw new BuildError('dockerfile', runner.refusal)
  return stackDockerfile(runner.reference, await fragmentOf(stack.dockerfile_fragment, checkout, signal))
}

async function fragmentOf(
  fragment: NonNullable<Build['stack']>['dockerfile_fragment'],
  checkout: Pick<Checkout, 'readFile'>,
  signal: AbortSignal,
): Promise<string> {
  if (fragment === null) return ''
  if (fragment.type === 'inline') return fragment.content
  const text = await checkout.readFile(withoutEnds(fragment.path, '/'), signal)
  if (text) return text.toString()
  throw new BuildError('dockerfile', `The file of dockerfile_fragment, ${fragment.path}, is not in the commit.`)
}
