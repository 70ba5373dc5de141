/**
 * Pure: whether a name matches a pattern. `*` matches any text, even an empty one. `?` matches one
 * character, or only itself if `isLiteral` says so. Case does not count. An empty pattern matches
 * nothing. Each character of the name is read once: the places in the pattern that the name may
 * have reached are the bits of one number, 64 to a word.
 */
export function matchesWildcard(wildcard: string, name: string, { isLiteral = false } = {}): boolean {
  if (wildcard === '') return false
  const { places, anyText, anyOne, next } = compile(wildcard.toLowerCase(), isLiteral)
  let reached = 1n
  for (const character of name.toLowerCase()) {
    reached = ((reached & (next.get(character) ?? anyOne)) << 1n) | (reached & anyText)
    if (reached === 0n) return false
  }
  return reached >> places === 1n
}

/**
 * A place is before each character except stars, and after the last one. Returns the places of
 * stars, and which characters advance from each place.
 */
function compile(pattern: string, isLiteral: boolean) {
  let [places, anyText, anyOne] = [0n, 0n, 0n]
  const literals = new Map<string, bigint>()
  for (const character of pattern) {
    const place = 1n << places
    if (character === '*') {
      anyText |= place
      continue
    }
    if (character === '?' && !isLiteral) anyOne |= place
    else literals.set(character, (literals.get(character) ?? 0n) | place)
    places++
  }
  const next = new Map([...literals].map(([character, bits]) => [character, bits | anyOne]))
  return { places, anyText, anyOne, next }
}
