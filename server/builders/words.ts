import { isBlank } from './dockerfile-text.ts'

/**
 * Splits words as BuildKit does for ARG and ENV, with their quotes and escapes. Reads each
 * character once.
 */
export function splitWords(text: string, escapeCharacter = '\\'): string[] {
  const words: string[] = []
  let [from, quote] = [-1, '']
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (quote === '' && isBlank(character)) {
      if (from !== -1) words.push(text.slice(from, at))
      from = -1
      continue
    }
    if (from === -1) from = at
    if (character === quote) quote = ''
    else if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (character === escapeCharacter && quote !== "'") at++
  }
  return from === -1 ? words : [...words, text.slice(from)]
}

/** Splits words as BuildKit does for FROM, ADD and COPY: at each blank, even inside quotes. */
export const plainWords = (text: string): string[] => text.split(/[ \t]/).filter((word) => word !== '')

/** Returns a word without quotes and escapes. */
export const unquoted = (word: string): string => word.replace(/["'\\`]/g, '')
