import type { Dockerfile, Instruction } from './dockerfile.ts'
import { DockerfileError } from './dockerfile-text.ts'
import { declare, expand, isNativePlatform, nativePlatform, platformValues, type Values } from './image-values.ts'
import { plainWords } from './words.ts'

/** A stage or image from which a stage or one of its steps takes files. */
export type Source =
  | { readonly kind: 'stage'; readonly stage: number; readonly written: string }
  | { readonly kind: 'none'; readonly written: string }
  | ImageSource

export interface ImageSource {
  readonly kind: 'image'
  /** The name with its variables expanded; undefined if it is unknown before the build. */
  readonly image: string | undefined
  readonly written: string
  readonly line: number
}

export interface Stage {
  readonly name: string | undefined
  readonly base: Source
  readonly from: Instruction
  readonly steps: readonly Step[]
}

/** An instruction of a stage, and the sources that its flags name, by the name as written. */
export interface Step {
  readonly instruction: Instruction
  readonly sources: ReadonlyMap<string, Source>
}

export interface Stages {
  /** ARG instructions before the first stage. */
  readonly globals: readonly Instruction[]
  readonly stages: readonly Stage[]
}

/**
 * Resolves the names of stages and images (https://docs.docker.com/reference/dockerfile/). `given`
 * are the build arguments. Throws DockerfileError for names that could mean another stage.
 */
export function readStages({ instructions, escapeCharacter }: Dockerfile, given: Values): Stages {
  const values = new Map(platformValues)
  const globals: Instruction[] = []
  const stages: (Stage & { readonly steps: Step[] })[] = []
  const names = new Map<string, number>()
  const all = new Set(instructions.flatMap((one) => (one.keyword === 'FROM' ? (stageNameOf(one) ?? []) : [])))
  for (const instruction of instructions) {
    const { keyword, rest, line } = instruction
    const current = stages.at(-1)
    if (keyword === 'FROM') {
      const name = stageNameOf(instruction)
      stages.push({ name, base: baseOf(instruction, values, names), from: instruction, steps: [] })
      if (name !== undefined && names.has(name))
        throw new DockerfileError(line, `two stages have the name "${name}". Rename one.`)
      if (name !== undefined) names.set(name, stages.length - 1)
    } else if (current) {
      const own = stages.length - 1
      const sources = fromsOf(instruction).map((written): [string, Source] => [
        written,
        sourceOf(instruction, written, { names, all, own }),
      ])
      current.steps.push({ instruction, sources: new Map(sources) })
    } else if (keyword === 'ARG') {
      declare(rest, escapeCharacter, given, values)
      globals.push(instruction)
    } else throw new DockerfileError(line, `only ARG may come before the first FROM. Move ${keyword} after it.`)
  }
  return { globals, stages }
}

const reservedNames: ReadonlySet<string> = new Set(['scratch', 'context'])

function stageNameOf({ rest, line }: Instruction): string | undefined {
  const [, as, written, ...more] = plainWords(rest)
  if (as === undefined) return undefined
  const name = written?.toLowerCase() ?? ''
  const isName = /^[a-z][a-z0-9._-]*$/.test(name) && !reservedNames.has(name)
  if (as.toUpperCase() === 'AS' && isName && more.length === 0) return name
  throw new DockerfileError(
    line,
    'FROM must be followed by an image, and optionally by AS and the name of the stage. A name begins with a ' +
      'letter and has letters, digits, ".", "_" and "-"; "scratch" and "context" are reserved.',
  )
}

function baseOf({ rest, flags, line }: Instruction, values: Values, names: ReadonlyMap<string, number>): Source {
  checkPlatform(flags, line, values)
  const [written = ''] = plainWords(rest)
  const image = expand(written, values)
  if (image === '')
    throw new DockerfileError(line, 'the image name of FROM is empty. Add the name of an image, or "scratch".')
  const stage = names.get(image?.toLowerCase() ?? '')
  if (stage !== undefined) return { kind: 'stage', stage, written }
  return image === 'scratch' ? { kind: 'none', written } : { kind: 'image', image, written, line }
}

/** Rejects other platforms: the engine would fetch their images itself. */
function checkPlatform(flags: readonly string[], line: number, values: Values): void {
  for (const flag of flags) {
    const written = /^--platform=(.+)$/.exec(flag)?.[1]
    if (written === undefined)
      throw new DockerfileError(line, `FROM does not support the flag "${flag.slice(0, 100)}". Remove it.`)
    const platform = expand(written, values)
    if (platform !== undefined && isNativePlatform(platform)) continue
    throw new DockerfileError(
      line,
      `the platform "${written}" is not the engine's platform ${nativePlatform}. Remove --platform, or use ` +
        '$BUILDPLATFORM.',
    )
  }
}

/** Returns the names in `COPY --from=x` and `RUN --mount=type=bind,from=x`, also after ONBUILD. */
export function fromsOf({ keyword, flags, trigger }: Instruction): string[] {
  if (trigger) return fromsOf(trigger)
  const named = flags.flatMap((flag) => partsOf(keyword, flag)).flatMap(({ from }) => from ?? [])
  return [...new Set(named)].filter((name) => name !== '')
}

interface FlagPart {
  readonly text: string
  /** The text, if it is the name of a source. */
  readonly from?: string
}

/** Splits a flag around the name of its source. The case of a mount's keys does not matter. */
function partsOf(keyword: string, flag: string): FlagPart[] {
  const equals = flag.indexOf('=')
  const [name, value] = [flag.slice(0, equals), flag.slice(equals + 1)]
  if (equals !== -1 && name === '--from' && (keyword === 'COPY' || keyword === 'ADD'))
    return [{ text: '--from=' }, { text: value, from: value }]
  if (equals === -1 || name !== '--mount' || keyword !== 'RUN') return [{ text: flag }]
  return value.split(',').flatMap((pair, index) => {
    const text = `${index === 0 ? '--mount=' : ','}`
    const [key = ''] = pair.split('=', 1)
    if (key.toLowerCase() !== 'from' || key === pair) return [{ text: text + pair }]
    const from = pair.slice(key.length + 1)
    return [{ text: `${text}from=` }, { text: from, from }]
  })
}

/** Returns the instruction with its sources renamed. */
export const withFroms = (instruction: Instruction, rename: (written: string) => string): Instruction => ({
  ...instruction,
  flags: instruction.flags.map((flag) =>
    partsOf(instruction.keyword, flag)
      .map(({ text, from }) => (from ? rename(from) : text))
      .join(''),
  ),
})

interface Names {
  readonly names: ReadonlyMap<string, number>
  /** The names of all stages, including later ones. */
  readonly all: ReadonlySet<string>
  readonly own: number
}

function sourceOf({ keyword, line }: Instruction, written: string, { names, all, own }: Names): Source {
  const name = written.toLowerCase()
  const stage = names.get(name)
  if (stage !== undefined && stage < own) return { kind: 'stage', stage, written }
  if (all.has(name)) throw new DockerfileError(line, `the stage "${written}" is not before this one. Move it up.`)
  if (/^[+-]?\d+$/.test(name)) {
    const index = Number(name)
    if (keyword === 'COPY' && /^\d{1,4}$/.test(name) && index < own) return { kind: 'stage', stage: index, written }
    throw new DockerfileError(
      line,
      `the stage number "${written}" cannot be used here. Name an earlier stage with AS, and use that name.`,
    )
  }
  if (name === 'scratch') return { kind: 'none', written }
  return { kind: 'image', image: written.includes('$') ? undefined : written, written, line }
}
