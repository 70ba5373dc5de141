/**
 * Pure: whether a name matches a pattern. `*` stands for any text, also none. `?` stands for one character, unless `isLiteral`
 * says that it stands for itself. Case does not count. An empty pattern matches nothing. Each character of the name is
 * looked at once: the places in the pattern that the name may have reached are the bits of one number, 64 to a word.
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

/** A place is in front of each character except stars, and behind the last one. Returns where a star is, and which characters lead on. */
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
