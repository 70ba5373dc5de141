import { holes } from '../../lib/known-hole-table.ts'
import { reachableHolesOf } from '../../lib/known-holes.ts'
import type { BuildRecipe } from '../builder.ts'
import { DockerfileError, type Instruction, parseDockerfile } from '../dockerfile.ts'

/**
 * Pure: returns the holes by which a step that mounts something reaches files of the machine, on
 * the BuildKit inside of a Docker Engine of this version. A version that cannot be read has all.
 */
export function mountHoles(version: string): readonly string[] {
  const isReadable = /^\d+\.\d+/.test(version)
  const found = reachableHolesOf({ engine: { version: isReadable ? version : '0.0.0' } })
  return found.filter(({ component }) => component === 'buildkit').map(({ id }) => id)
}

/**
 * Rejects steps that mount something, in a Dockerfile and in the ONBUILD instructions of its base
 * images, for an engine whose BuildKit may reach files of the machine then. Throws DockerfileError.
 */
export function checkMounts(
  { dockerfile, dockerfileText }: Pick<BuildRecipe, 'dockerfile' | 'dockerfileText'>,
  triggers: readonly string[],
  { version, why }: { readonly version: string; readonly why: string },
): void {
  const known = mountHoles(version)
  if (known.length === 0) return
  const own = parseDockerfile(dockerfileText, dockerfile).instructions
  const ofBases = triggers.flatMap((trigger) =>
    parseDockerfile(trigger).instructions.map((one) => ({ ...one, line: 1 })),
  )
  const found = [...own, ...ofBases].find(mounts)
  if (!found) return
  throw new DockerfileError(
    found.line,
    `"RUN --mount" is not allowed on Docker ${version}, whose BuildKit lets such a step reach files of the machine ` +
      `(${known.join(', ')}). The platform's own BuildKit, which allows it, cannot be used: ${why} ` +
      `Docker ${firstWithout()} or newer allows it too.`,
    dockerfile,
  )
}

/** The first version whose BuildKit has none of these holes. */
const firstWithout = (): string => holes.find(({ fixedInEngine }) => fixedInEngine)?.fixedInEngine?.[0] ?? ''

const mounts = ({ flags, trigger }: Instruction): boolean =>
  flags.some((flag) => /^--mount\b/i.test(flag)) || (trigger !== undefined && mounts(trigger))
