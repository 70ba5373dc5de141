import { BuildError, type BuildRecipe } from './builder.ts'
import { type Instruction, parseDockerfile, splitWords, unquoted } from './dockerfile.ts'
import { familiarName, imageReferences, registryHostOf } from './image-references.ts'
import { isOfficialFrontend, requestedFrontend } from './official-frontend.ts'

/**
 * Refuses Dockerfiles that would make the engine itself load foreign code or open addresses: another frontend (`# syntax=`) than Docker's own,
 * for which the built-in one stands in,
 * ADD of remote addresses, which the engine fetches from the host's own network, and images that were built for a service: whoever knows the name of
 * another one's could read what is in it. Throws BuildError.
 */
export function checkDockerfile(recipe: BuildRecipe): void {
  const frontend = requestedFrontend(recipe.dockerfileText)
  if (frontend && !isOfficialFrontend(frontend)) {
    throw new BuildError(
      'frontend',
      `${recipe.dockerfile} asks for the frontend "${frontend}", and a frontend not allowed here would run as part of the engine. Remove the "# syntax=" line: the built-in frontend is used.`,
    )
  }
  const instructions = parseDockerfile(recipe.dockerfileText)
  if (!instructions.some(({ keyword }) => keyword === 'FROM')) {
    throw new BuildError(
      'dockerfile',
      `${recipe.dockerfile} has no FROM instruction, so there is nothing to build. Begin it with FROM and a base image.`,
    )
  }
  if (instructions.length > maxInstructions) {
    throw new BuildError(
      'dockerfile',
      `${recipe.dockerfile} has ${instructions.length} instructions, and at most ${maxInstructions} are built. Join them, or put them into a script that one RUN runs.`,
    )
  }
  checkImages(recipe)
  // A builder that does not know heredocs takes their body for instructions, so those are looked at as well.
  for (const instruction of [...instructions, ...parseDockerfile(recipe.dockerfileText, { heredocs: false })]) {
    const source = remoteSource(instruction)
    if (source === undefined) continue
    throw new BuildError(
      'dockerfile',
      `${recipe.dockerfile}, line ${instruction.line}: ADD may not fetch "${source}", because the engine would open that address from the host's network. Fetch it in a RUN instruction, or begin a path in the repository with "./".`,
    )
  }
}

/**
 * Refuses images of registries that may not be asked: the engine would open a private address for its user. `isRefused` gives why a host may not
 * be, else undefined. Throws BuildError.
 */
export async function checkRegistries(
  recipe: BuildRecipe,
  isRefused: (host: string) => Promise<string | undefined>,
): Promise<void> {
  for (const { image = '', line } of imageReferences(recipe)) {
    const host = registryHostOf(image)
    const why = host === undefined ? undefined : await isRefused(host)
    if (why === undefined) continue
    throw new BuildError('dockerfile', `${recipe.dockerfile}, line ${line}: "${image}" is not fetched: ${why}`)
  }
}

/** Far more than an image can have layers, in all of its stages. */
const maxInstructions = 1000

/** Images that this platform makes, but for the one that everybody may begin with. */
const ownImages = /^quayside\/(?!node(?:[:@]|$))/

function checkImages(recipe: BuildRecipe): void {
  for (const { written, image, line } of imageReferences(recipe)) {
    const at = `${recipe.dockerfile}, line ${line}`
    if (image === undefined) {
      throw new BuildError(
        'dockerfile',
        `${at}: which image "${written}" stands for cannot be told. Give each of its variables a default by ARG before the first FROM, and use no more than \${NAME}, \${NAME:-default} and \${NAME:+other}; COPY --from and RUN --mount take a name without variables.`,
      )
    }
    if (ownImages.test(familiarName(image))) {
      throw new BuildError(
        'dockerfile',
        `${at}: "${image}" is kept for the images that are built here for services, and nothing else is built on those. Push what you need to a registry, and name it there.`,
      )
    }
  }
}

/** The sentence for a commit without the Dockerfile that its settings name. */
export function missingDockerfile(recipe: Pick<BuildRecipe, 'commit' | 'rootPath' | 'dockerfile'>): BuildError {
  const path = [recipe.rootPath, recipe.dockerfile].filter((part) => part !== '').join('/')
  return new BuildError(
    'dockerfile',
    `There is no Dockerfile at "${path}" in commit ${recipe.commit.slice(0, 12)}. Set dockerfile_path or root_path to where it is, or add one, and deploy again.`,
  )
}

function remoteSource(instruction: Instruction): string | undefined {
  const onbuild = instruction.keyword === 'ONBUILD'
  const rest = onbuild ? instruction.rest.replace(/^ADD\s+/i, '') : instruction.rest
  if (onbuild ? rest === instruction.rest : instruction.keyword !== 'ADD') return undefined
  return wordsOf(rest)
    .filter((word) => !word.startsWith('--'))
    .slice(0, -1)
    .find(mayBeRemote)
}

function wordsOf(rest: string): string[] {
  const form = rest.replace(/^(--\S+\s+)+/, '')
  try {
    const words: unknown = JSON.parse(form)
    if (Array.isArray(words)) return words.map(String)
  } catch {
    // Not the JSON form: words separated by blanks.
  }
  return splitWords(form).map(unquoted)
}

/** A source with a variable counts as a path only when it begins with a literal directory. */
function mayBeRemote(source: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^github\.com\//i.test(source) || /^[^/]*@[^/]*:/.test(source))
    return true
  const variable = source.indexOf('$')
  return variable !== -1 && !/^[A-Za-z0-9_./-]*\//.test(source.slice(0, variable))
}
