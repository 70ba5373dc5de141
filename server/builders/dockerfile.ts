import { DockerfileError, isTooLong, linesOf, maxLineBytes, trimBlanksEnd } from './dockerfile-text.ts'
import { heredocsOf } from './heredocs.ts'
import { splitFlags, writeFlags } from './instruction-flags.ts'

export { DockerfileError } from './dockerfile-text.ts'

/** A parsed Dockerfile, without comments and continuation lines. */
export interface Dockerfile {
  readonly escapeCharacter: Escape
  readonly instructions: readonly Instruction[]
}

export type Escape = '\\' | '`'

/**
 * One instruction. `line` counts from 1. Continuation lines are joined as they are, even inside a
 * word.
 */
export interface Instruction {
  /** In upper case. */
  readonly keyword: string
  /** `--name=value`, without quotes. */
  readonly flags: readonly string[]
  /** The text after the flags. */
  readonly rest: string
  readonly line: number
  readonly heredocs: readonly Heredoc[]
  /** The instruction after ONBUILD. */
  readonly trigger?: Instruction
}

export interface Heredoc {
  readonly name: string
  readonly lines: readonly string[]
}

/** Far more than the layers of an image in all of its stages. */
const maxInstructions = 1000
const maxHeredocs = 100

const keywords: ReadonlySet<string> = new Set(
  (
    'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL ' +
    'USER VOLUME WORKDIR'
  ).split(' '),
)
const withHeredocs: ReadonlySet<string> = new Set(['ADD', 'COPY', 'RUN'])

interface Cursor {
  readonly lines: readonly string[]
  readonly escapeCharacter: Escape
  next: number
}

/**
 * Parses a Dockerfile as BuildKit does, in linear time. Throws DockerfileError for text that
 * versions of BuildKit read differently, for unknown instructions and for excessive length. `path`
 * appears in messages.
 */
export function parseDockerfile(text: string, path = 'Dockerfile'): Dockerfile {
  try {
    return readInstructions(linesOf(text))
  } catch (error) {
    throw error instanceof DockerfileError ? new DockerfileError(error.line, error.problem, path) : error
  }
}

function readInstructions(lines: readonly string[]): Dockerfile {
  const cursor: Cursor = { lines, escapeCharacter: escapeOf(lines), next: 0 }
  const instructions: Instruction[] = []
  let heredocs = 0
  while (cursor.next < lines.length) {
    const line = cursor.next + 1
    const joined = readLogicalLine(cursor)
    if (joined === undefined) continue
    const instruction = at(line, () => readInstruction(joined, line))
    const documents = readHeredocs(cursor, instruction)
    heredocs += documents.length
    instructions.push({ ...instruction, heredocs: documents })
    if (instructions.length > maxInstructions) {
      throw new DockerfileError(
        line,
        `a Dockerfile may have at most ${maxInstructions} instructions. Join some, or move them into a script.`,
      )
    }
    if (heredocs > maxHeredocs) {
      throw new DockerfileError(
        line,
        `a Dockerfile may have at most ${maxHeredocs} here-documents. Move some into files.`,
      )
    }
  }
  return { escapeCharacter: cursor.escapeCharacter, instructions }
}

/** Adds the line to a problem found by an inner reader. */
function at<T>(line: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof DockerfileError && error.line === 0 ? new DockerfileError(line, error.problem) : error
  }
}

/**
 * Returns the escape character that a directive names. Directives are the first lines of a file,
 * with nothing in between.
 */
function escapeOf(lines: readonly string[]): Escape {
  const seen = new Set<string>()
  let escapeCharacter: Escape = '\\'
  for (const [index, text] of lines.entries()) {
    const [name, value] = directiveOf(text) ?? []
    if (name === undefined || value === undefined) break
    if (seen.has(name)) throw new DockerfileError(index + 1, `the directive "${name}" occurs twice. Remove one.`)
    seen.add(name)
    if (name !== 'escape') continue
    if (value !== '\\' && value !== '`') {
      throw new DockerfileError(index + 1, `the escape character must be \\ or \`, not "${value.slice(0, 20)}".`)
    }
    escapeCharacter = value
  }
  return escapeCharacter
}

const directives: ReadonlySet<string> = new Set(['syntax', 'escape', 'check'])

function directiveOf(line: string): [name: string, value: string] | undefined {
  const comment = line.trim()
  const equals = comment.indexOf('=')
  if (!comment.startsWith('#') || equals === -1) return undefined
  const [name, value] = [comment.slice(1, equals).trim().toLowerCase(), comment.slice(equals + 1).trim()]
  return directives.has(name) && value !== '' ? [name, value] : undefined
}

/**
 * Joins continuation lines. Comments and empty lines between them do not end the instruction.
 * Undefined if no instruction begins on this line.
 */
function readLogicalLine(cursor: Cursor): string | undefined {
  const first = cursor.next
  const parts: string[] = []
  let bytes = 0
  while (cursor.next < cursor.lines.length) {
    const line = cursor.lines[cursor.next++] ?? ''
    if (isBlankOrComment(line)) {
      if (cursor.next === first + 1) return undefined
      continue
    }
    const continued = beforeContinuation(line, cursor.escapeCharacter)
    const part = continued ?? line
    bytes += Buffer.byteLength(part)
    if (bytes > maxLineBytes) {
      throw new DockerfileError(
        first + 1,
        `the instruction is longer than ${maxLineBytes} bytes. Move its content into a file.`,
      )
    }
    parts.push(part)
    if (continued === undefined) break
  }
  const joined = parts.join('').trim()
  if (beforeContinuation(joined, cursor.escapeCharacter) === undefined) return joined
  throw new DockerfileError(
    first + 1,
    `the instruction ends with ${cursor.escapeCharacter}, but no line follows. Remove that character.`,
  )
}

function isBlankOrComment(line: string): boolean {
  const text = line.trimStart()
  return text === '' || text.startsWith('#')
}

/**
 * Returns the text before an escape character at the end of a line; undefined if the line does not
 * continue.
 */
function beforeContinuation(line: string, escapeCharacter: Escape): string | undefined {
  const text = trimBlanksEnd(line)
  return text.endsWith(escapeCharacter) && text.at(-2) !== escapeCharacter ? text.slice(0, -1) : undefined
}

function readInstruction(joined: string, line: number, isTrigger = false): Instruction {
  const end = joined.search(/[ \t]/)
  const word = end === -1 ? joined : joined.slice(0, end)
  const keyword = word.toUpperCase()
  if (!/^[A-Za-z]+$/.test(word) || !keywords.has(keyword)) {
    throw new DockerfileError(
      0,
      `unknown instruction: ${JSON.stringify(word.slice(0, 100))}. Correct it and deploy again.`,
    )
  }
  const { flags, rest } = splitFlags(end === -1 ? '' : joined.slice(end).trim())
  const instruction = { keyword, flags, rest, line, heredocs: [] }
  if (keyword !== 'ONBUILD') return instruction
  if (isTrigger) throw new DockerfileError(0, 'ONBUILD must not contain another ONBUILD. Remove one.')
  const trigger = readInstruction(rest, line, true)
  if (startsOf(trigger).length > 0)
    throw new DockerfileError(0, 'ONBUILD must not have a here-document. Move its text into a file.')
  return { ...instruction, rest: textOf(trigger), trigger }
}

const startsOf = (instruction: Instruction) =>
  withHeredocs.has(instruction.keyword) ? heredocsOf(textOf(instruction), instruction.rest) : []

function readHeredocs(cursor: Cursor, instruction: Instruction): Heredoc[] {
  return at(instruction.line, () => startsOf(instruction)).map(({ name, chomp }) => {
    const lines: string[] = []
    while (cursor.next < cursor.lines.length) {
      const line = cursor.lines[cursor.next++] ?? ''
      if ((chomp ? line.replace(/^\t+/, '') : line) === name) return { name, lines }
      if (isTooLong(line)) {
        throw new DockerfileError(
          cursor.next,
          `a line of the here-document is longer than ${maxLineBytes} bytes. Move it into a file.`,
        )
      }
      lines.push(line)
    }
    throw new DockerfileError(instruction.line, `the here-document "${name}" does not end. Add a line "${name}".`)
  })
}

/** Returns an instruction as one line. */
export const textOf = (instruction: Instruction): string => {
  const further = writeFlags(instruction)
  return further === '' ? instruction.keyword : `${instruction.keyword} ${further}`
}

/**
 * Writes a Dockerfile that every version of BuildKit reads alike. Each instruction keeps the number
 * of its first line.
 */
export function writeDockerfile({ escapeCharacter, instructions }: Dockerfile): string {
  const lines: string[] = escapeCharacter === '`' ? ['# escape=`'] : []
  for (const instruction of instructions) {
    while (lines.length < instruction.line - 1) lines.push('')
    lines.push(textOf(instruction))
    for (const { name, lines: body } of instruction.heredocs) {
      for (const line of body) lines.push(line)
      lines.push(name)
    }
  }
  return `${lines.join('\n')}\n`
}
