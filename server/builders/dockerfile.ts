/** One instruction of a Dockerfile. `line` counts from 1; continuation lines are joined as they are, also inside of a word. */
export interface Instruction {
  readonly keyword: string
  readonly rest: string
  readonly line: number
}

interface Cursor {
  readonly lines: readonly string[]
  next: number
}

const blankOrComment = /^\s*(#.*)?$/
const directive = /^\s*#\s*([a-z][a-z0-9]*)\s*=\s*(.*?)\s*$/i

/**
 * The instructions of a Dockerfile, without judging them: what is not understood is left to the builder to complain about.
 * `heredocs: false` reads the body of a heredoc as instructions, as builders do that do not know heredocs.
 */
export function parseDockerfile(text: string, options: { heredocs: boolean } = { heredocs: true }): Instruction[] {
  const cursor: Cursor = { lines: linesOf(text), next: 0 }
  const continuation = continuationCharacter(cursor.lines)
  const instructions: Instruction[] = []
  while (cursor.next < cursor.lines.length) {
    const line = cursor.next + 1
    const joined = readLogicalLine(cursor, continuation)
    const match = /^(\S+)\s*([\s\S]*)$/.exec(joined)
    if (!match?.[1]) continue
    const instruction = { keyword: match[1].toUpperCase(), rest: match[2] ?? '', line }
    instructions.push(instruction)
    if (options.heredocs) skipHeredocs(cursor, instruction)
  }
  return instructions
}

/** Names that the Dockerfile declares by ARG, in any stage. */
export function declaredArguments(text: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { keyword, rest } of parseDockerfile(text)) {
    if (keyword !== 'ARG') continue
    for (const word of splitWords(rest)) {
      const name = /^([A-Za-z_][A-Za-z0-9_]*)(=|$)/.exec(word)?.[1]
      if (name) names.add(name)
    }
  }
  return names
}

/** Words as a shell would split them; quotes and what they hold stay as written. */
export function splitWords(text: string): string[] {
  return text.match(/(?:[^\s"'\\]|\\[\s\S]|"(?:[^"\\]|\\[\s\S])*"|'[^']*'|["'\\])+/g) ?? []
}

/** A word without what quotes or escapes it. */
export const unquoted = (word: string): string => word.replace(/["'\\`]/g, '')

/** Lines before the first instruction: where a frontend may be asked for. */
export function leadingLines(text: string): string[] {
  const lines = linesOf(text)
  const first = lines.findIndex((line) => !/^\s*(#.*|\/\/.*)?$/.test(line))
  return first === -1 ? lines : lines.slice(0, first)
}

const linesOf = (text: string): string[] => text.replace(/^\uFEFF/, '').split(/\r?\n/)

function continuationCharacter(lines: readonly string[]): string {
  for (const line of lines) {
    const [, name, value] = directive.exec(line) ?? []
    if (!name) break
    if (name.toLowerCase() === 'escape' && value === '`') return '`'
  }
  return '\\'
}

/** Joins continuation lines; comments and empty lines between them do not end the instruction. */
function readLogicalLine(cursor: Cursor, continuation: string): string {
  const parts: string[] = []
  while (cursor.next < cursor.lines.length) {
    const line = cursor.lines[cursor.next++] ?? ''
    if (blankOrComment.test(line)) {
      if (parts.length === 0) return ''
      continue
    }
    const trimmed = line.trimEnd()
    if (!trimmed.endsWith(continuation)) {
      parts.push(trimmed)
      break
    }
    parts.push(trimmed.slice(0, -1))
  }
  return parts.join('').trim()
}

function skipHeredocs(cursor: Cursor, { keyword, rest }: Instruction): void {
  if (keyword !== 'RUN' && keyword !== 'COPY' && keyword !== 'ADD') return
  for (const word of splitWords(rest)) {
    const [, dash, quoted] = /^\d*<<(-?)([^<\s]+)$/.exec(word) ?? []
    if (quoted === undefined) continue
    const name = quoted.replace(/^(["'])(.*)\1$/, '$2')
    const end = cursor.lines.findIndex(
      (line, index) => index >= cursor.next && (dash ? line.replace(/^\t+/, '') : line) === name,
    )
    cursor.next = end === -1 ? cursor.lines.length : end + 1
  }
}
