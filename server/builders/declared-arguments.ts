import { type Dockerfile, parseDockerfile } from './dockerfile.ts'
import { splitWords } from './words.ts'

/** Returns the names that a Dockerfile declares by ARG in any stage. Throws DockerfileError. */
export const declaredArguments = (text: string): ReadonlySet<string> => argumentsOf(parseDockerfile(text))

/** Does the same for a parsed Dockerfile. */
export function argumentsOf({ instructions, escapeCharacter }: Dockerfile): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { keyword, rest } of instructions) {
    if (keyword !== 'ARG') continue
    for (const word of splitWords(rest, escapeCharacter)) {
      const name = /^([A-Za-z_][A-Za-z0-9_]*)(=|$)/.exec(word)?.[1]
      if (name) names.add(name)
    }
  }
  return names
}
