import { DockerfileError, isBlank } from './dockerfile-text.ts'
import { readsAsJson } from './json-form.ts'

/** A here-document that an instruction announces with `<<NAME`. */
export interface HeredocStart {
  readonly name: string
  /** Whether it was `<<-`, which ignores tabs at the beginning of lines. */
  readonly chomp: boolean
}

const mayStart = /(?:^|[ \t])\d*<<(?!<)/
const start = /^\d{0,9}<<(-?)(?:([A-Za-z_]\w*)|"([A-Za-z_]\w*)"|'([A-Za-z_]\w*)')$/

/**
 * Returns the here-documents that a RUN, COPY or ADD line announces. `rest` is the text after its
 * flags. Throws Error with the problem if versions of BuildKit disagree. They split the line like a
 * shell, and see no here-document if that fails.
 */
export function heredocsOf(line: string, rest: string): HeredocStart[] {
  if (!mayStart.test(line)) return []
  const json = readsAsJson(rest)
  if (json === 'yes') return []
  if (json === 'unclear') throw new DockerfileError(0, unclear)
  return shellWords(line).flatMap((word) => {
    const isCandidate = /^\d*<<(?!<)/.test(word) && word.lastIndexOf('<') === word.indexOf('<') + 1
    if (!isCandidate || /<<-?$/.test(word)) return []
    const [, dash, ...names] = start.exec(word) ?? []
    const name = names.find((one) => one !== undefined)
    if (name !== undefined) return [{ name, chomp: dash === '-' }]
    throw new DockerfileError(
      0,
      `the here-document "${word.slice(0, 100)}" needs a name of letters, digits and underscores. Rename it.`,
    )
  })
}

/** Splits words as BuildKit's shell lexer does, with their quotes and escapes. */
function shellWords(line: string): string[] {
  const words: string[] = []
  let [from, quote] = [-1, '']
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? ''
    if (quote === '' && isBlank(character)) {
      if (from !== -1) words.push(line.slice(from, at))
      from = -1
      continue
    }
    if (from === -1) from = at
    if (character === quote) quote = ''
    else if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (character === '\\' && quote !== "'") at++
    else if (character === '$' && quote !== "'") at += variableLength(line, at)
    else if (character === '<' && quote === '') at += arrowsLength(line, at)
  }
  if (quote !== '') throw new DockerfileError(0, unclear)
  return from === -1 ? words : [...words, line.slice(from)]
}

const unclear =
  'builders read this line differently, because it combines a here-document with unusual quotes, variables or ' +
  '"<<". Write "<<NAME" without a space, or move the text into a file.'

const variable = /\$\{[A-Za-z_]\w*\}/y

/** Returns how many characters to skip after `$`. All versions read only plain variables alike. */
function variableLength(line: string, at: number): number {
  if (line[at + 1] !== '{') return 0
  variable.lastIndex = at
  const found = variable.exec(line)
  if (!found) throw new DockerfileError(0, unclear)
  return found[0].length - 1
}

/** The newest versions join `<<` and the next word across a space. */
function arrowsLength(line: string, at: number): number {
  let end = at
  while (line[end] === '<') end++
  if ((end - at) % 2 === 0 && isBlank(line[end])) throw new DockerfileError(0, unclear)
  return end - at - 1
}
