import { DockerfileError, isBlank } from './dockerfile-text.ts'

/** The flags at the beginning of an instruction, without quotes, and the text after them. */
export interface SplitFlags {
  readonly flags: readonly string[]
  readonly rest: string
}

/**
 * Reads `--name=value` words as BuildKit does. Throws Error with the problem for flags that its
 * versions read differently: flags with a backslash, a backtick, a quote inside quotes, or
 * characters outside ASCII.
 */
export function splitFlags(text: string): SplitFlags {
  const flags: string[] = []
  let at = 0
  for (;;) {
    while (isBlank(text[at])) at++
    if (!text.startsWith('--', at)) return { flags, rest: text.slice(at) }
    const { flag, end } = readFlag(text, at)
    at = end
    if (flag === '--') return { flags, rest: text.slice(at).trim() }
    flags.push(flag)
  }
}

function readFlag(text: string, from: number): { readonly flag: string; readonly end: number } {
  const pieces: string[] = []
  let [at, quote] = [from, '']
  for (; at < text.length && (quote !== '' || !isBlank(text[at])); at++) {
    const character = text[at] ?? ''
    if (!/^[\t\x20-\x7e]$/.test(character) || character === '\\' || character === '`') throw unclear(character)
    if (character === quote) quote = ''
    else if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (character === '"') throw unclear(character)
    else pieces.push(character)
  }
  if (quote !== '')
    throw new DockerfileError(0, `the flag "${text.slice(from, from + 100)}" has no closing quote. Add it.`)
  return { flag: pieces.join(''), end: at }
}

const unclear = (character: string): DockerfileError =>
  new DockerfileError(
    0,
    `a flag contains the character ${JSON.stringify(character)}, which builders read differently. Write the ` +
      'flag without it.',
  )

/** Writes flags and text so that every version of BuildKit reads them back unchanged. */
export function writeFlags({ flags, rest }: SplitFlags): string {
  const words = flags.map((flag) => (/[ \t']/.test(flag) ? `--"${flag.slice(2)}"` : flag))
  if (rest.startsWith('--')) words.push('--')
  if (rest !== '') words.push(rest)
  return words.join(' ')
}
