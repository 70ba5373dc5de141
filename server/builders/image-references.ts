import { selectBuildArguments } from './build-order.ts'
import type { BuildRecipe } from './builder.ts'
import { type Instruction, parseDockerfile, splitWords, unquoted } from './dockerfile.ts'

/** An image that a Dockerfile takes from elsewhere. */
export interface ImageReference {
  /** As it reads once its variables have their values; undefined: that cannot be told before the build. */
  readonly image: string | undefined
  /** As it is written. */
  readonly written: string
  readonly line: number
}

type Values = ReadonlyMap<string, string>

/**
 * Pure: every image that `FROM`, `COPY --from` and `RUN --mount=…,from=` of a Dockerfile name, and that is not one of its own stages
 * (https://docs.docker.com/reference/dockerfile/). Variables have the values of the recipe, else their defaults.
 */
export function imageReferences(recipe: Pick<BuildRecipe, 'dockerfileText' | 'variables'>): ImageReference[] {
  const given = new Map(Object.entries(selectBuildArguments(recipe.dockerfileText, recipe.variables)))
  const read = (heredocs: boolean) => readReferences(parseDockerfile(recipe.dockerfileText, { heredocs }), given)
  // A builder that does not know heredocs takes their body for instructions.
  return [...read(true), ...read(false)]
}

function readReferences(instructions: readonly Instruction[], given: Values): ImageReference[] {
  const values = new Map(platformArguments)
  const stages = new Set(['scratch'])
  const found: ImageReference[] = []
  let isGlobal = true
  for (const instruction of instructions) {
    const { keyword, rest, line } = instruction
    if (keyword === 'ARG' && isGlobal) declare(rest, given, values)
    const [base, name] = keyword === 'FROM' ? stageOf(rest) : []
    if (base !== undefined) isGlobal = false
    const uses = [
      ...(base === undefined ? [] : [{ written: base, image: expand(base, values), line }]),
      ...copiedFrom(instruction).map((written) => ({ written, image: expand(written), line })),
    ]
    found.push(...uses.filter(({ image }) => image === undefined || !stages.has(image.toLowerCase())))
    if (name !== undefined) stages.add(name.toLowerCase())
  }
  return found
}

/** What BuildKit itself gives to FROM. */
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
const platformArguments = ['TARGET', 'BUILD'].flatMap((side): [string, string][] => [
  [`${side}PLATFORM`, `linux/${architecture}`],
  [`${side}OS`, 'linux'],
  [`${side}ARCH`, architecture],
  [`${side}VARIANT`, ''],
])

function declare(rest: string, given: Values, values: Map<string, string>): void {
  for (const word of splitWords(rest)) {
    const [, name, standard] = /^([A-Za-z_][A-Za-z0-9_]*)(?:=([\s\S]*))?$/.exec(word) ?? []
    if (name === undefined) continue
    const value = given.get(name) ?? (standard === undefined ? undefined : expand(standard, values))
    if (value !== undefined) values.set(name, value)
  }
}

function stageOf(rest: string): [base: string | undefined, name: string | undefined] {
  const [base, as, name] = splitWords(rest).filter((word) => !word.startsWith('--'))
  return [base, as?.toUpperCase() === 'AS' ? name : undefined]
}

/** Of `COPY --from=x`, `RUN --mount=type=bind,from=x`, also behind ONBUILD; a number is a stage. */
function copiedFrom({ keyword, rest }: Instruction): string[] {
  const [, inner = '', innerRest = ''] = /^(\S+)\s+([\s\S]*)$/.exec(rest) ?? []
  const [word, text] = keyword === 'ONBUILD' ? [inner.toUpperCase(), innerRest] : [keyword, rest]
  const flags = flagsOf(text)
  const values = (flag: string): string[] =>
    flags.flatMap((one) => (one.startsWith(`--${flag}=`) ? one.slice(flag.length + 3) : []))
  // Keys of a mount are read in whatever case, and of one that stands twice the last counts.
  const mounts = values('mount').flatMap((mount) => mount.split(','))
  const named = word === 'RUN' ? mounts.flatMap((pair) => /^\s*from=(.*)$/is.exec(pair)?.[1] ?? []) : values('from')
  return named.filter((name) => !/^\d+$/.test(name))
}

/** The flags before what an instruction is about, without quotes: a flag may hold blanks. */
export function flagsOf(text: string): string[] {
  // Where the file makes ` its escape, a blank behind one ends no word.
  const words = splitWords(text.replace(/`\s+/g, '`')).map(unquoted)
  const end = words.findIndex((word) => !word.startsWith('--'))
  return end === -1 ? words : words.slice(0, end)
}

/** `$X`, `${X}`, `${X:-else}` and `${X:+other}`, without quotes; undefined where something else is wanted, or a value is missing. */
function expand(text: string, values: Values = new Map()): string | undefined {
  let isKnown = true
  const expanded = text.replace(
    /\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)(?::([-+])([^}$]*))?\})/g,
    (_, plain?: string, braced?: string, how?: string, other = '') => {
      const value = values.get(plain ?? braced ?? '')
      if (how === '-') return value || other
      if (how === '+') return value ? other : ''
      if (value === undefined) isKnown = false
      return value ?? ''
    },
  )
  return isKnown && !expanded.includes('$') ? unquoted(expanded) : undefined
}

/** The host of its registry, with its port; undefined: Docker Hub, or an image without a registry. */
export function registryHostOf(image: string): string | undefined {
  const [first = '', ...rest] = image.split('/')
  return rest.length > 0 && /[.:A-Z]|^localhost$/.test(first) ? first : undefined
}

/** As Docker files it: names of Docker Hub are known without their host. */
export const familiarName = (image: string): string => image.toLowerCase().replace(/^(?:index\.)?docker\.io\//, '')
