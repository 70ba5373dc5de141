/** Pure: whether the name is of the wildcard's form; `*` stands for any text, also none. Case does not count; `` matches nothing. */
export function matchesWildcard(wildcard: string, name: string): boolean {
  const [first = '', ...others] = wildcard.toLowerCase().split('*')
  const text = name.toLowerCase()
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}
