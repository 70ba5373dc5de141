import { mayMountCache } from './build-identity.ts'
import type { BuildPlan } from './build-plan.ts'
import { fromsOf } from './build-stages.ts'
import { BuildError, type BuildRecipe } from './builder.ts'
import { type Instruction, parseDockerfile } from './dockerfile.ts'
import { DockerfileError } from './dockerfile-text.ts'
import { checkTriggerExpansion } from './expansion.ts'
import { fullImageName, isOwnImage, registryHostOf } from './image-names.ts'
import { jsonWords } from './json-form.ts'
import { isOfficialFrontend, requestedFrontend } from './official-frontend.ts'
import { remoteSource } from './remote-source.ts'

/**
 * Rejects a frontend (`# syntax=`) other than Docker's own, which the built-in one replaces. Throws
 * BuildError.
 */
export function checkFrontend({
  dockerfile,
  dockerfileText,
}: Pick<BuildRecipe, 'dockerfile' | 'dockerfileText'>): void {
  const frontend = requestedFrontend(dockerfileText)
  if (!frontend || isOfficialFrontend(frontend)) return
  throw new BuildError(
    'frontend',
    `${dockerfile} asks for the frontend "${frontend.slice(0, 200)}", and a frontend not allowed here would ` +
      'run as part of the engine. Remove the "syntax" line: the built-in frontend is used.',
  )
}

/**
 * Rejects Dockerfiles that make the engine open addresses from the host's network (ADD of remote
 * addresses). Rejects images that were built for a service, because anyone who knows the name of
 * another's image could read its files. Throws BuildError.
 */
export function checkDockerfile({ dockerfile, named }: BuildPlan, path: string): void {
  if (!dockerfile.instructions.some(({ keyword }) => keyword === 'FROM')) {
    throw new BuildError(
      'dockerfile',
      `${path} has no FROM instruction, so there is nothing to build. Begin it with FROM and a base image.`,
    )
  }
  checkImages(named, path)
  for (const instruction of dockerfile.instructions) {
    const problem = problemOf(instruction)
    if (problem !== undefined) throw new DockerfileError(instruction.line, problem, path)
  }
}

/**
 * Applies the rules for Dockerfiles to the ONBUILD instructions of a base image. Rejects cache
 * mounts too, because other builds fill those. Throws BuildError.
 */
export function checkTriggers(triggers: readonly string[], image: string, place: { path: string; line: number }): void {
  if (triggers.length > maxTriggers) {
    throw new DockerfileError(
      place.line,
      `the base image "${image}" asks by ONBUILD for more than ${maxTriggers} instructions. Use another base image.`,
      place.path,
    )
  }
  for (const trigger of triggers) {
    const problem = triggerProblem(trigger)
    if (problem === undefined) continue
    const shown = JSON.stringify(trigger.slice(0, 200))
    throw new DockerfileError(
      place.line,
      `the base image "${image}" asks by ONBUILD for ${shown}, which is not done: ${problem} Use another base image.`,
      place.path,
    )
  }
  try {
    checkTriggerExpansion(triggers.flatMap((trigger) => parseDockerfile(trigger).instructions))
  } catch (error) {
    if (!(error instanceof DockerfileError)) throw error
    throw new DockerfileError(
      place.line,
      `what the base image "${image}" asks for by ONBUILD: ${error.problem}`,
      place.path,
    )
  }
}

const maxTriggers = 100

const notInTriggers: ReadonlySet<string> = new Set(['FROM', 'ONBUILD', 'MAINTAINER'])

function triggerProblem(trigger: string): string | undefined {
  try {
    const [instruction, ...more] = parseDockerfile(trigger).instructions
    // A directive, comment or continuation has no use here.
    if (!instruction || more.length > 0 || trigger.includes('\n')) return 'it must be one line with one instruction.'
    if (notInTriggers.has(instruction.keyword)) return `${instruction.keyword} may not be asked for.`
    if (instruction.flags.some(mayMountCache)) return 'it may not mount a cache.'
    return problemOf({ ...instruction, keyword: 'ONBUILD', trigger: instruction })
  } catch (error) {
    if (error instanceof DockerfileError) return error.problem
    throw error
  }
}

/** Returns why an instruction is not allowed; undefined if it is. */
function problemOf(instruction: Instruction): string | undefined {
  const { trigger } = instruction
  if (trigger && fromsOf(trigger).length > 0) {
    return (
      'ONBUILD may not take files from another stage or image, because nobody can know then which one that is. ' +
      'Copy them in a stage of its own.'
    )
  }
  const { keyword, rest } = trigger ?? instruction
  if (keyword !== 'ADD') return undefined
  if (rest.startsWith('[') && /^\[[ \t]*["\]]/.test(rest) && !jsonWords(rest)) {
    return 'the list in brackets is not valid JSON, so builders read it differently. Correct it.'
  }
  const source = remoteSource(rest)
  return (
    source &&
    `ADD may not fetch "${source.slice(0, 200)}", because the engine would open that address from the host's ` +
      'network. Fetch it in a RUN instruction, or begin a path in the repository with "./".'
  )
}

/**
 * Rejects images of registries that must not be contacted: the engine would open a private address
 * for its user. `isRefused` returns the reason for a host, or undefined. Throws BuildError.
 */
export async function checkRegistries(
  { named }: BuildPlan,
  path: string,
  isRefused: (host: string) => Promise<string | undefined>,
): Promise<void> {
  for (const { image = '', line } of named) {
    const host = registryHostOf(image)
    const why = host === undefined ? undefined : await isRefused(host)
    if (why !== undefined) throw new DockerfileError(line, `"${image}" is not fetched: ${why}`, path)
  }
}

function checkImages(named: BuildPlan['named'], path: string): void {
  for (const { written, image, line } of named) {
    if (image === undefined) {
      throw new DockerfileError(
        line,
        `the image that "${written.slice(0, 200)}" names is unknown. Give each of its variables a default by ` +
          `ARG before the first FROM, and use no more than \${NAME}, \${NAME:-default} and \${NAME:+other}; ` +
          'COPY --from and RUN --mount take a name without variables.',
        path,
      )
    }
    if (isOwnImage(image)) {
      throw new DockerfileError(
        line,
        `"${image}" is kept for the images that are built here for services, and nothing else is built on ` +
          'those. Push what you need to a registry, and name it there.',
        path,
      )
    }
    if (fullImageName(image) === undefined) {
      throw new DockerfileError(
        line,
        `"${image}" is not the name of an image in a registry. Write lower-case letters and digits with "/", ` +
          '".", "_" or "-" between, and a tag or digest; ids of images are not accepted.',
        path,
      )
    }
  }
}

/** Returns the error for a commit that lacks the Dockerfile named in the settings. */
export function missingDockerfile(recipe: Pick<BuildRecipe, 'commit' | 'rootPath' | 'dockerfile'>): BuildError {
  const path = [recipe.rootPath, recipe.dockerfile].filter((part) => part !== '').join('/')
  return new BuildError(
    'dockerfile',
    `There is no Dockerfile at "${path}" in commit ${recipe.commit.slice(0, 12)}. Set dockerfile_path or ` +
      'root_path to where it is, or add one, and deploy again.',
  )
}
