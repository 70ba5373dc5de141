import type { ChangedField } from '../../engine.ts'

/** Members below this depth are compared as one text. */
const deepest = 40

/**
 * Returns the members that differ between two values, with their paths. All members of a value
 * differ if the other one is absent. Pure.
 */
export function* differences(path: string, before: unknown, after: unknown, depth = 0): Generator<ChangedField> {
  const [old, young] = depth < deepest ? [membersOf(before), membersOf(after)] : []
  const isList = old?.isList ?? young?.isList
  const canDescend = (old ?? before === undefined) && (young ?? after === undefined)
  const names = new Set([...(old?.members.keys() ?? []), ...(young?.members.keys() ?? [])])
  if (canDescend && (!old || !young || old.isList === young.isList) && names.size > 0) {
    for (const name of names) {
      const at = isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      yield* differences(at, old?.members.get(name), young?.members.get(name), depth + 1)
    }
  } else {
    const [was, is] = [textOf(before), textOf(after)]
    if (was !== is) yield { path, before: was, after: is, isHidden: false }
  }
}

interface Members {
  readonly isList: boolean
  readonly members: ReadonlyMap<string, unknown>
}

/** Items of lists have their names as keys if each has another one. */
function membersOf(value: unknown): Members | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return { isList: false, members: new Map(Object.entries(value)) }
  const names = value.map((item: unknown) => String(Object(item).name ?? ''))
  const isNamed = !names.includes('') && new Set(names).size === names.length
  return {
    isList: true,
    members: new Map(value.map((item, index) => [isNamed ? (names[index] ?? '') : `${index}`, item])),
  }
}

/** Returns a value as JSON. Undefined if it is absent. */
function textOf(value: unknown): string | undefined {
  try {
    return value === undefined ? undefined : JSON.stringify(value)
  } catch {
    // The stack of the thread has no room for it.
    return '"nested too deeply to be shown"'
  }
}
