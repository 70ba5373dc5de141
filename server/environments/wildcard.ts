/**
 * Pure: whether a name has the form of a wildcard: `*` stands for any text, also none, `?` for one character. Case does not count. An
 * empty wildcard matches nothing. Only the last `*` is ever tried again, so steps are at most the product of both lengths.
 */
export function matchesWildcard(wildcard: string, name: string): boolean {
  const [pattern, text] = [[...wildcard.toLowerCase()], [...name.toLowerCase()]]
  let [at, position] = [0, 0]
  /** Behind the last `*`, and where its text ends for now. */
  let [star, end] = [-1, 0]
  while (position < text.length) {
    if (pattern[at] === '*') {
      star = ++at
      end = position
    } else if (pattern[at] === '?' || (at < pattern.length && pattern[at] === text[position])) {
      at++
      position++
    } else if (star >= 0) {
      at = star
      position = ++end
    } else return false
  }
  return pattern.length > 0 && pattern.slice(at).every((character) => character === '*')
}
