/** Fields of an object that change with every write, or that only the cluster writes. */
const ignored = new Set([
  'metadata.managedFields',
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.uid',
  'metadata.creationTimestamp',
  'status',
])
/** Fields below this depth are named by their parent. */
const deepest = 4

/**
 * Returns the paths of fields that differ, such as `spec.template.spec`, without their values,
 * which may be secret. Pure.
 */
export function changedPaths(before: unknown, after: unknown): string[] {
  const found: string[] = []
  compare(before, after, [], found)
  return found
}

function compare(before: unknown, after: unknown, path: readonly string[], found: string[]): void {
  const name = path.join('.')
  if (ignored.has(name) || JSON.stringify(before) === JSON.stringify(after)) return
  if (!isPlain(before) || !isPlain(after) || path.length === deepest) {
    if (!isSame(before, after)) found.push(name)
    return
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    compare(before[key], after[key], [...path, key], found)
  }
}

type Plain = Readonly<Record<string, unknown>>

const isPlain = (value: unknown): value is Plain => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether two values are equal, in any order of their members. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]))
  }
  if (!isPlain(one) || !isPlain(other)) return one === other
  const keys = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...keys].every((key) => isSame(one[key], other[key]))
}
