/** A value of a body. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | Draft
/** A body of the API while a form edits it. Undefined members are not sent. */
export interface Draft {
  readonly [name: string]: Json
}

const isDraft = (value: Json): value is Draft => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Pure: the value at a path such as `ports.0.internal_port`. Undefined if there is none. */
export function valueAt(value: Json, path: string): Json {
  let found = value
  for (const name of path.split('.')) {
    if (Array.isArray(found)) found = found[Number(name)]
    else found = isDraft(found) ? found[name] : undefined
  }
  return found
}

/** Pure: the draft with another value at a path. Objects on the way are made. */
export function withValue(draft: Draft, path: string, value: Json): Draft {
  const [first = '', ...rest] = path.split('.')
  return { ...draft, [first]: replaced(draft[first], rest, value) }
}

function replaced(inside: Json, path: readonly string[], value: Json): Json {
  const [first, ...rest] = path
  if (first === undefined) return value
  if (Array.isArray(inside)) {
    return inside.map((item: Json, index) => (String(index) === first ? replaced(item, rest, value) : item))
  }
  const members = isDraft(inside) ? inside : {}
  return { ...members, [first]: replaced(members[first], rest, value) }
}

/** Pure: the list at a path. Empty if there is none. */
export function listAt(draft: Draft, path: string): readonly Json[] {
  const value = valueAt(draft, path)
  return Array.isArray(value) ? value : []
}

/** Pure: whether two values are sent as the same body. */
export const isSame = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Pure: all settings that differ from their defaults, some of them with another value. */
export function settingsWith(values: Draft, defaults: Draft, change: Draft): Draft {
  const changed = Object.entries(values).filter(([key, value]) => !isSame(value, defaults[key]))
  return { ...Object.fromEntries(changed), ...change }
}

/**
 * The draft as the body of an operation. A draft has no type of its own, because the API checks it
 * and names the field that is wrong.
 */
export const asBody = <T>(draft: Draft): T => draft as T

/** A record of the API as a draft. Both are JSON, which the types of records do not say. */
export const asDraft = (record: object): Draft => record as Draft
