/**
 * Whether an argument is in the JSON form. Versions of BuildKit differ in text behind the closing
 * bracket: one ignores it, the other takes the whole argument for plain words. That is 'unclear'.
 */
export function readsAsJson(rest: string): 'yes' | 'no' | 'unclear' {
  if (!rest.startsWith('[')) return 'no'
  if (jsonWords(rest)) return 'yes'
  return /^\[[ \t]*(?:["[{\]\d-]|true|false|null)/.test(rest) && !/^\[[ \t]*-[^\d]/.test(rest) ? 'unclear' : 'no'
}

/** The strings of an argument in the JSON form; undefined if it is not in that form. */
export function jsonWords(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined
  try {
    const words: unknown = JSON.parse(rest)
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : undefined
  } catch {
    return undefined
  }
}
