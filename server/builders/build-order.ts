import { createHash } from 'node:crypto'
import type { BuildLimits, BuildRecipe } from './builder.ts'
import { argumentsOf } from './declared-arguments.ts'
import { type Dockerfile, parseDockerfile } from './dockerfile.ts'

/** A recipe turned into what an engine is asked for. */
export interface BuildOrder {
  /** `quayside/<service>:<hash of everything that the image depends on>`. */
  readonly tag: string
  readonly labels: Readonly<Record<string, string>>
  readonly buildArguments: Readonly<Record<string, string>>
  readonly recipe: BuildRecipe
  readonly limits: BuildLimits
}

export const serviceLabel = 'quayside.service'
export const recipeLabel = 'quayside.recipe'

/**
 * What to ask for: the same for the same recipe, always. Throws where the service's id cannot be
 * part of an image name.
 */
export function buildOrder(recipe: BuildRecipe): BuildOrder {
  const buildArguments = argumentsFor(recipe)
  const hash = recipeHash(recipe)
  return {
    tag: `${repositoryOf(recipe.service)}:${hash}`,
    labels: { [serviceLabel]: recipe.service, [recipeLabel]: hash },
    buildArguments,
    recipe,
    limits: recipe.limits,
  }
}

/** Pure: a hash of everything that the image depends on; whose it is, is no part of it. */
export function recipeHash(recipe: BuildRecipe): string {
  const buildArguments = argumentsFor(recipe)
  return createHash('sha256')
    .update(
      JSON.stringify([
        'v1',
        recipe.commit,
        recipe.rootPath,
        recipe.dockerfile,
        recipe.targetStage ?? '',
        Object.entries(buildArguments),
        ...(recipe.secretsHash === undefined ? [] : [recipe.secretsHash]),
        ...(recipe.ignoresCache ? [{ ignoresCache: true }] : []),
        ...(recipe.hasOwnDockerfile ? [{ dockerfile: recipe.dockerfileText }] : []),
        ...(recipe.ignoreFile ? [{ ignoreFile: recipe.ignoreFile.text }] : []),
      ]),
    )
    .digest('hex')
    .slice(0, 40)
}

/** The image name, without tag, of everything that is built for a service. */
export function repositoryOf(service: string): string {
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(service)) throw new Error(`"${service}" cannot be part of an image name`)
  return `quayside/${service}`
}

/**
 * The variables that the Dockerfile declares as ARG, sorted by name, without those that steer the
 * builder itself.
 */
export function selectBuildArguments(
  dockerfile: Dockerfile,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const selected: Record<string, string> = {}
  for (const name of [...argumentsOf(dockerfile)].sort()) {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (value !== undefined && !isReserved(name)) selected[name] = value
  }
  return selected
}

const argumentsFor = ({ dockerfileText, dockerfile, variables }: BuildRecipe): Record<string, string> =>
  selectBuildArguments(parseDockerfile(dockerfileText, dockerfile), variables)

const reserved = /^(BUILDKIT_.*|DOCKER_.*|(HTTP|HTTPS|FTP|ALL|NO)_PROXY|(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT))$/i

/**
 * Names that change how the builder works or which network it uses; a variable of that name stays
 * out of the build.
 */
export const isReserved = (name: string): boolean => reserved.test(name)
