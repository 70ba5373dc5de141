/**
 * Pure: whether a name matches a pattern. `*` stands for any text, also none. `?` stands for one character, unless `isLiteral`
 * says that it stands for itself. Case does not count. An empty pattern matches nothing. Only the last `*` is tried again, so the
 * steps are at most the product of both lengths.
 */
export function matchesWildcard(wildcard: string, name: string, { isLiteral = false } = {}): boolean {
  const [pattern, text] = [[...wildcard.toLowerCase()], [...name.toLowerCase()]]
  const matchesOne = (at: number, position: number): boolean =>
    (pattern[at] === '?' && !isLiteral) || (at < pattern.length && pattern[at] === text[position])
  let [at, position] = [0, 0]
  /** Behind the last `*`, and where its text ends for now. */
  let [star, end] = [-1, 0]
  while (position < text.length) {
    if (pattern[at] === '*') {
      star = ++at
      end = position
    } else if (matchesOne(at, position)) {
      at++
      position++
    } else if (star >= 0) {
      at = star
      position = ++end
    } else return false
  }
  return pattern.length > 0 && pattern.slice(at).every((character) => character === '*')
}
