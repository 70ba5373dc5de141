import { BuildError } from './builder.ts'

/** A Dockerfile that is rejected because of one of its lines. */
export class DockerfileError extends BuildError {
  /** The line, from 1; 0 is the whole file. */
  readonly line: number
  /** The problem, without its line. */
  readonly problem: string

  constructor(line: number, problem: string, path = 'Dockerfile') {
    super('dockerfile', line > 0 ? `${path}, line ${line}: ${problem}` : `${path}: ${problem}`)
    this.line = line
    this.problem = problem
  }
}

const maxFileBytes = 256 * 1024
/** BuildKit reads lines of less than 64 KiB, and each instruction is sent as one line. */
export const maxLineBytes = 60_000

/**
 * Control characters, blanks and line separators that BuildKit may read differently, and the
 * replacement character for invalid UTF-8. TAB and line feed are allowed.
 */
const odd = /(?![ \t\n])[\p{Cc}\p{White_Space}\p{Cs}\u{FEFF}\u{FFFD}]/u

/**
 * Returns the lines of a Dockerfile without their line ends and without a leading byte order mark.
 * Throws DockerfileError if the file is too large or contains a character that readers disagree
 * about.
 */
export function linesOf(text: string): string[] {
  if (Buffer.byteLength(text) > maxFileBytes) {
    throw new DockerfileError(
      0,
      `the file is larger than ${maxFileBytes} bytes. Move long parts into separate files and COPY them.`,
    )
  }
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const lines = plain.split('\n')
  // One search of the whole text costs a fraction of one for each line.
  if (!odd.test(plain)) return lines
  for (const [index, line] of lines.entries()) {
    const found = odd.exec(line)?.[0]
    if (found !== undefined) throw new DockerfileError(index + 1, oddText(found))
  }
  return lines
}

function oddText(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  if (character === '\uFFFD') return `the text is not valid UTF-8 (${code}). Save the file as UTF-8.`
  return (
    `the character ${code} is not allowed in a Dockerfile, because builders read it differently. Replace it ` +
    'with a space or a line break.'
  )
}

/**
 * Whether a line has more bytes in UTF-8 than an instruction may have. Skips the count for short
 * lines.
 */
export const isTooLong = (line: string): boolean =>
  line.length * 3 > maxLineBytes && Buffer.byteLength(line) > maxLineBytes

/** Removes trailing spaces and tabs. Linear, unlike a regular expression. */
export function trimBlanksEnd(text: string): string {
  let end = text.length
  while (end > 0 && isBlank(text[end - 1])) end--
  return text.slice(0, end)
}

export const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t'
