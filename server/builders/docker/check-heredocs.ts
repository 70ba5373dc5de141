import type { BuildRecipe } from '../builder.ts'
import { DockerfileError, parseDockerfile } from '../dockerfile.ts'

/** The first version whose builder supports here-documents. */
const firstMajor = 23

/**
 * Rejects here-documents if the engine would read their text as instructions. Throws
 * DockerfileError.
 */
export function checkHeredocs({ dockerfile, dockerfileText }: BuildRecipe, version: string): void {
  if (Number.parseInt(version, 10) >= firstMajor) return
  const { instructions } = parseDockerfile(dockerfileText, dockerfile)
  const first = instructions.find(({ heredocs }) => heredocs.length > 0)
  if (!first) return
  throw new DockerfileError(
    first.line,
    `Docker ${version} does not support here-documents ("<<${first.heredocs[0]?.name}"). Move the text into a ` +
      `file of the repository, or upgrade the engine to version ${firstMajor} or newer.`,
    dockerfile,
  )
}
