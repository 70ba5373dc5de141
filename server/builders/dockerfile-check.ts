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
    `${dockerfile} requests the frontend "${frontend.slice(0, 200)}". Only Docker's own is allowed, because ` +
      'frontends run inside the engine. Remove the "syntax" line to use the built-in frontend.',
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
      `${path} has no FROM instruction, so there is nothing to build. Add FROM with a base image.`,
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
      `the base image "${image}" has more than ${maxTriggers} ONBUILD instructions. Use another base image.`,
      place.path,
    )
  }
  for (const trigger of triggers) {
    const problem = triggerProblem(trigger)
    if (problem === undefined) continue
    const shown = JSON.stringify(trigger.slice(0, 200))
    throw new DockerfileError(
      place.line,
      `the base image "${image}" has the ONBUILD instruction ${shown}, which is not allowed: ${problem} ` +
        'Use another base image.',
      place.path,
    )
  }
  try {
    checkTriggerExpansion(triggers.flatMap((trigger) => parseDockerfile(trigger).instructions))
  } catch (error) {
    if (!(error instanceof DockerfileError)) throw error
    throw new DockerfileError(
      place.line,
      `the base image "${image}" has an ONBUILD instruction that is not allowed: ${error.problem}`,
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
    if (!instruction || more.length > 0 || trigger.includes('\n')) return 'it must be one instruction on one line.'
    if (notInTriggers.has(instruction.keyword)) return `ONBUILD must not contain ${instruction.keyword}.`
    if (instruction.flags.some(mayMountCache)) return 'it must not mount a cache.'
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
      'ONBUILD must not take files from another stage or image, because the name may mean another one in the ' +
      'build that runs the instruction. Copy the files in a separate stage.'
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
    `ADD must not fetch "${source.slice(0, 200)}", because the engine would open that address from the host's ` +
      'network. Fetch it in a RUN instruction. If it is a path in the repository, begin it with "./".'
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
    if (why !== undefined) throw new DockerfileError(line, `the image "${image}" must not be fetched: ${why}`, path)
  }
}

function checkImages(named: BuildPlan['named'], path: string): void {
  for (const { written, image, line } of named) {
    if (image === undefined) {
      throw new DockerfileError(
        line,
        `the image name "${written.slice(0, 200)}" cannot be resolved before the build. Give each of its ` +
          `variables a default with ARG before the first FROM, and use only \${NAME}, \${NAME:-default} and ` +
          `\${NAME:+other}. COPY --from and RUN --mount accept no variables.`,
        path,
      )
    }
    if (isOwnImage(image)) {
      throw new DockerfileError(
        line,
        `the name "${image}" is reserved for images that this platform builds for services. Builds must not ` +
          'use these images. Push what you need to a registry, and use its name there.',
        path,
      )
    }
    if (fullImageName(image) === undefined) {
      throw new DockerfileError(
        line,
        `"${image}" is not the name of an image in a registry. Use lower-case letters and digits, separated ` +
          'by "/", ".", "_" or "-", and optionally a tag or digest. Image ids are not accepted.',
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
      'root_path to its location, or add the file, and deploy again.',
  )
}
