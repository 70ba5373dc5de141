import { createHash } from 'node:crypto'
import type { BuildLimits, BuildRecipe } from './builder.ts'
import { argumentsOf } from './declared-arguments.ts'
import { type Dockerfile, parseDockerfile } from './dockerfile.ts'

/** A recipe in the form that an engine builds. */
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
 * Returns the order for a recipe; equal recipes give equal orders. Throws if the service's id
 * cannot be part of an image name.
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

/** Pure: returns a hash of everything that the image depends on. The service is no part of it. */
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

/** Returns the image name, without a tag, of everything built for a service. */
export function repositoryOf(service: string): string {
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(service)) throw new Error(`"${service}" cannot be part of an image name`)
  return `quayside/${service}`
}

/**
 * Returns the variables that the Dockerfile declares by ARG, sorted by name. Leaves out those that
 * steer the builder itself.
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
 * Whether a name changes how the builder works or which network it uses. Variables of such names
 * are not passed to the build.
 */
export const isReserved = (name: string): boolean => reserved.test(name)
