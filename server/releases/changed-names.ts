import { sorted } from './unchanged.ts'

/**
 * Returns the names of members that differ, with a dot inside objects: `git_repository.branch`.
 * Lists are compared as a whole.
 */
export function changedNames(before: object, after: object): string[] {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const names = [...new Set([...old.keys(), ...young.keys()])].sort()
  return names.flatMap((name) => {
    const [a, b] = [old.get(name) ?? null, young.get(name) ?? null]
    if (isObject(a) && isObject(b)) return changedNames(a, b).map((inner) => `${name}.${inner}`)
    return sorted(a) === sorted(b) ? [] : [name]
  })
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
