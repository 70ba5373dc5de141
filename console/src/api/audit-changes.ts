/** A field of an object before and after a change. Undefined where it is missing. */
export interface FieldChange {
  readonly field: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Pure: the fields that differ between two objects as JSON, such as `config.region`. */
export function fieldChanges(before: string | null, after: string | null): readonly FieldChange[] {
  const old = new Map(fieldsOf('', parsed(before)))
  const fresh = new Map(fieldsOf('', parsed(after)))
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((field) => ({ field, before: old.get(field), after: fresh.get(field) }))
    .filter((change) => change.before !== change.after)
}

function parsed(text: string | null): unknown {
  if (text === null || text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    // It is shown as it is.
    return text
  }
}

/** Lists of plain values are one field, since their places mean nothing. */
function* fieldsOf(path: string, value: unknown): Generator<readonly [string, string]> {
  if (value === undefined) return
  const isPlain = typeof value !== 'object' || value === null
  if (isPlain || Array.isArray(value)) yield [path || 'value', isPlain ? String(value) : JSON.stringify(value)]
  else for (const [name, one] of Object.entries(value)) yield* fieldsOf(path ? `${path}.${name}` : name, one)
}
