import type { Stage, Stages } from './build-stages.ts'
import type { Instruction } from './dockerfile.ts'
import { DockerfileError } from './dockerfile-text.ts'
import { splitWords } from './words.ts'

/** The maximum length of each variable in characters, by name. */
type Lengths = Map<string, number>

/**
 * Linux passes at most 128 KiB in one variable to a program, and BuildKit's time grows with the
 * square of the expanded length.
 */
const maxStageLength = 128 * 1024
const maxInstructionLength = 128 * 1024
/** The assumed length of a variable that the base image may set. */
const unknownLength = 4096
/** The characters that a replacement may insert for one character. */
const perReplaced = 1024

/** The only instructions in which BuildKit expands variables. */
const expanded: ReadonlySet<string> = new Set('ADD ARG COPY ENV EXPOSE LABEL STOPSIGNAL USER VOLUME WORKDIR'.split(' '))
const reference = /\$(?:\{([A-Za-z_]\w*)(\/?)|([A-Za-z_]\w*))/g

/**
 * Rejects variables that multiply each other (`ENV B=$A$A`, `ENV C=$B$B`, …). BuildKit would expand
 * them inside the engine, which all builds share. `given` are the build arguments. Throws
 * DockerfileError.
 */
export function checkExpansion({ globals, stages }: Stages, given: ReadonlyMap<string, string>): void {
  const start: Lengths = new Map([...given].map(([name, value]) => [name, value.length]))
  for (const instruction of globals) grow(instruction, start)
  const ends: Lengths[] = []
  for (const stage of stages) ends.push(endOf(stage, ends, start))
}

function endOf({ base, steps }: Stage, ends: readonly Lengths[], start: Lengths): Lengths {
  const lengths: Lengths = new Map([...start, ...((base.kind === 'stage' && ends[base.stage]) || [])])
  for (const { instruction } of steps) grow(instruction, lengths)
  return lengths
}

/** Applies the same check to the ONBUILD instructions of a base image. */
export function checkTriggerExpansion(triggers: readonly Instruction[]): void {
  const lengths: Lengths = new Map()
  for (const trigger of triggers) grow(trigger, lengths)
}

function grow({ keyword, rest, line }: Instruction, lengths: Lengths): void {
  if (!expanded.has(keyword)) return
  const length = lengthOf(rest, lengths)
  if (length > maxInstructionLength) throw tooLong(line, length)
  if (keyword !== 'ENV' && keyword !== 'ARG') return
  for (const [name, value] of assignmentsOf(keyword, rest)) {
    lengths.set(name, Math.max(lengthOf(value, lengths), lengths.get(name) ?? 0))
  }
  const all = [...lengths.values()].reduce((sum, one) => sum + one, 0)
  if (all > maxStageLength) throw tooLong(line, all)
}

/** Splits an instruction: `ENV NAME the rest` is one variable, otherwise `NAME=value` or `NAME`. */
function assignmentsOf(keyword: string, rest: string): (readonly [name: string, value: string])[] {
  const words = splitWords(rest)
  const [first = ''] = words
  if (keyword === 'ENV' && !first.includes('=')) return [[first, rest]]
  return words.map((word) => {
    const [name = ''] = word.split('=', 1)
    return [name, word.slice(name.length)]
  })
}

function lengthOf(text: string, lengths: Lengths): number {
  let length = text.length
  for (const [, braced, slash, plain] of text.matchAll(reference)) {
    const one = lengths.get(braced ?? plain ?? '') ?? unknownLength
    length += slash ? one * perReplaced : one
  }
  return length
}

const tooLong = (line: number, length: number): DockerfileError =>
  new DockerfileError(
    line,
    `with variables expanded, this instruction or the variables of its stage may have ${length} characters. ` +
      `The limit is ${maxStageLength}. Move long values into files.`,
  )
