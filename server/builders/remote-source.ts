import { jsonWords } from './json-form.ts'
import { plainWords, unquoted } from './words.ts'

/** Returns the first source of an ADD that may be an address; undefined if all are local files. */
export function remoteSource(rest: string): string | undefined {
  // Quotes and escapes are removed from words of the JSON form too. A quoted word with blanks is
  // split, and each piece is tested.
  const words = [jsonWords(rest) ?? [], plainWords(rest)].flatMap((all) => all.slice(0, -1))
  return words.find((word) => [word, unquoted(word)].some(mayBeRemote))
}

/** A source with a variable is a path only if it begins with a literal directory. */
function mayBeRemote(source: string): boolean {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^github\.com\//i.test(source)) return true
  const [head = ''] = source.split('/', 1)
  const user = head.indexOf('@')
  if (user !== -1 && head.includes(':', user)) return true
  const variable = source.indexOf('$')
  const directory = source.slice(0, source.lastIndexOf('/', variable) + 1)
  return variable !== -1 && !/^[A-Za-z0-9_./-]+$/.test(directory)
}
