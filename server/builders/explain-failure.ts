import { withoutFullStop } from '../lib/without-full-stop.ts'
import type { FailedStep } from './build-progress.ts'
import { BuildError, type BuildRecipe } from './builder.ts'
import { missingDockerfile } from './dockerfile-check.ts'

export interface BuildFailure {
  /** The engine's message. */
  readonly error: string
  readonly step: FailedStep | undefined
  readonly recipe: BuildRecipe
  /**
   * Whether the limits of the recipe were enforced. A killed step most likely ran out of memory
   * then.
   */
  readonly limited: boolean
}

/** Explains to users why a build failed and what to do about it. */
export function explainFailure(failure: BuildFailure): BuildError {
  for (const explain of [dockerfileProblem, stepProblem, sourceProblem]) {
    const error = explain(failure)
    if (error) return error
  }
  return new BuildError('failed', `The build failed: ${publicText(failure.error)}.${lastLines(failure.step)}`)
}

function dockerfileProblem({ error, recipe }: BuildFailure): BuildError | undefined {
  if (error.includes('failed to read dockerfile: ') && error.includes('no such file')) return missingDockerfile(recipe)
  const [, line, problem] = /dockerfile parse error(?: on)? line (\d+): ([\s\S]*)/.exec(error) ?? []
  if (line)
    return new BuildError('dockerfile', `${recipe.dockerfile}, line ${line}: ${problem}. Correct it and deploy again.`)
  if (error.includes('target stage ') && error.includes(' could not be found')) {
    return new BuildError(
      'dockerfile',
      `${recipe.dockerfile} has no stage named "${recipe.targetStage}". Set docker_target_build_stage to one ` +
        'that it has, or leave it empty.',
    )
  }
  return undefined
}

function stepProblem({ error, step, recipe, limited }: BuildFailure): BuildError | undefined {
  const exitCode = /(?:exit code: |exit status )(\d+)/.exec(error)?.[1]
  if (/no space left on device/i.test([error, ...(step?.lastLines ?? [])].join('\n'))) {
    return new BuildError(
      'disk-full',
      'The build failed because the disk of the builder is full. Free space there and deploy again.',
    )
  }
  if (/max depth exceeded/.test(error)) {
    return new BuildError(
      'size',
      'The image has more layers than the engine can stack, about 125 with those of its base image. Join RUN ' +
        `and COPY instructions of ${recipe.dockerfile}, or copy the result into a last stage, and deploy again.`,
    )
  }
  if (!exitCode) return undefined
  const name = step ? `"${step.name}"` : 'A step'
  if (exitCode === '137' && limited) {
    return new BuildError(
      'limits',
      `The build step ${name} was killed, most likely because it needed more than its ` +
        `${recipe.limits.memoryMiB} MiB of memory. Raise the service's build memory or let the step use ` +
        `less.${lastLines(step)}`,
    )
  }
  return new BuildError(
    'failed',
    `The build step ${name} failed with exit code ${exitCode}. Correct the Dockerfile or what the step runs, ` +
      `and deploy again.${lastLines(step)}`,
  )
}

function sourceProblem({ error, step, recipe }: BuildFailure): BuildError | undefined {
  const image = /^\[internal\] load metadata for (\S+)$|^\[.*\] FROM (\S+)$/.exec(step?.name ?? '')
  if (image) {
    const name = (image[1] ?? image[2] ?? '').replace(/^docker\.io\/(library\/)?/, '')
    return new BuildError(
      'failed',
      `The base image "${name}" is not on the engine and could not be fetched: ${publicText(error)}. Correct ` +
        `the FROM line of ${recipe.dockerfile}, or make the image available.`,
    )
  }
  const missing = /"([^"]+)"(?: not found|: not found)/.exec(error)?.[1]
  if (missing && step) {
    return new BuildError(
      'failed',
      `The build step "${step.name}" needs "${missing}", which is not in ` +
        `${recipe.rootPath === '' ? 'the repository' : `"${recipe.rootPath}"`} (or is left out by ` +
        '.dockerignore). Correct the path and deploy again.',
    )
  }
  return undefined
}

const lastLines = (step: FailedStep | undefined): string =>
  step && step.lastLines.length > 0 ? `\nLast lines:\n${step.lastLines.map((line) => `  ${line}`).join('\n')}` : ''

/** Removes the engine's own wrapping and its directories. */
const publicText = (error: string): string =>
  withoutFullStop(
    error.replace(/^(failed to (solve|create)[^:]*: )+/, '').replace(/\/var\/lib\/docker\/[^\s:"]*/g, '(engine)'),
  )
