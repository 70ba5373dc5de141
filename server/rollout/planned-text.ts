/** The most characters of a value in a plan. */
const longest = 2_000

/** Pure: a value of a plan that people can read at once. */
export const shortened = (text: string | null): string | null =>
  text === null || text.length <= longest ? text : `${text.slice(0, longest)} … (${text.length} characters)`

/**
 * Pure: the setting that a name of `changedNames` means, as text or JSON. Undefined if it is
 * missing. A name of an advanced setting has dots itself.
 */
export function settingAt(settings: object, name: string): string | undefined {
  const members = new Map<string, unknown>(Object.entries(settings))
  if (members.has(name)) return textOf(members.get(name))
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const inner = members.get(name.slice(0, dot))
    if (typeof inner === 'object' && inner !== null) return settingAt(inner, name.slice(dot + 1))
  }
  return undefined
}

const textOf = (value: unknown): string | undefined => {
  if (value === null || value === undefined) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
