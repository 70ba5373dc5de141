/**
 * Whether an argument is in the JSON form. Versions of BuildKit treat text after the closing
 * bracket differently: one ignores it, the other reads the whole argument as plain words. That is
 * 'unclear'.
 */
export function readsAsJson(rest: string): 'yes' | 'no' | 'unclear' {
  if (!rest.startsWith('[')) return 'no'
  if (jsonWords(rest)) return 'yes'
  return /^\[[ \t]*(?:["[{\]\d-]|true|false|null)/.test(rest) && !/^\[[ \t]*-[^\d]/.test(rest) ? 'unclear' : 'no'
}

/** Returns the strings of an argument in the JSON form; undefined for another form. */
export function jsonWords(rest: string): string[] | undefined {
  if (!rest.startsWith('[')) return undefined
  try {
    const words: unknown = JSON.parse(rest)
    return Array.isArray(words) && words.every((word) => typeof word === 'string') ? words : undefined
  } catch {
    return undefined
  }
}
