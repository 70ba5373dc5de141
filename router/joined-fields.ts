/**
 * Returns names and values in turn as an object with names in lower case, for the functions of
 * Node.js that want one. The values of one name are joined (RFC 9110, 5.3): Node.js sends some
 * names once only, and fails otherwise. A name may be one of JavaScript's own, such as
 * `constructor`.
 */
export function joinedFields(raw: readonly string[]): Record<string, string> {
  const joined = new Map<string, string>()
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = [raw[index]?.toLowerCase(), raw[index + 1]]
    const before = joined.get(name)
    joined.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(joined)
}
