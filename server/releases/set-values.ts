/** Values of a chart. Objects have no prototype, so that no name has a meaning. */
export interface ValueTree {
  [name: string]: unknown
}

const mostIndex = 65_536
const mostDepth = 100

export const emptyTree = (): ValueTree => Object.create(null)

/** Merges values as Helm merges files: objects by members, everything else as a whole. Pure. */
export function mergeTrees(before: ValueTree, after: ValueTree): ValueTree {
  const merged = Object.assign(emptyTree(), before)
  for (const [name, value] of Object.entries(after)) {
    const former = merged[name]
    merged[name] = isTree(former) && isTree(value) ? mergeTrees(former, value) : value
  }
  return merged
}

export const isTree = (value: unknown): value is ValueTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a value with the type that Helm infers: a boolean, an integer, null, a list. */
export function typedValue(text: string): unknown {
  if (/^\{.*\}$/s.test(text)) return text === '{}' ? [] : splitOn(text.slice(1, -1), ',').map(typedValue)
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  const isInteger = /^-?(?:0|[1-9]\d{0,14})$/.test(text)
  return isInteger ? Number(text) : text.replaceAll('\\,', ',')
}

/** Sets the value at a path such as `a.b[0].c`, in which `\.` is a dot of a name. Throws Error. */
export function setValue(tree: ValueTree, path: string, value: unknown): void {
  const steps = stepsOf(path)
  if (steps.length === 0 || steps.length > mostDepth) throw new Error(`"${path.slice(0, 100)}" is not a path of values`)
  let at: ValueTree | unknown[] = tree
  for (const [index, step] of steps.entries()) {
    const next = steps[index + 1]
    if (next === undefined) put(at, step, value)
    else at = childOf(at, step, typeof next === 'number')
  }
}

function childOf(at: ValueTree | unknown[], step: string | number, isList: boolean): ValueTree | unknown[] {
  const found: unknown = Array.isArray(at) ? at[Number(step)] : at[step]
  if (isList ? Array.isArray(found) : isTree(found)) return found as ValueTree | unknown[]
  const made = isList ? [] : emptyTree()
  put(at, step, made)
  return made
}

function put(at: ValueTree | unknown[], step: string | number, value: unknown): void {
  if (Array.isArray(at)) {
    while (at.length < Number(step)) at.push(null)
    at[Number(step)] = value
  } else at[step] = value
}

function stepsOf(path: string): (string | number)[] {
  return splitOn(path, '.').flatMap((part) => {
    const [, name = '', indexes = ''] = /^([^[\]]*)((?:\[\d{1,5}\])*)$/.exec(part) ?? []
    if (name === '') throw new Error(`"${path.slice(0, 100)}" is not a path of values`)
    const numbers = [...indexes.matchAll(/\d+/g)].map(([digits]) => Number(digits))
    if (numbers.some((number) => number > mostIndex)) throw new Error(`"${path.slice(0, 100)}" has too large an index`)
    return [name.replaceAll('\\.', '.'), ...numbers]
  })
}

/** Splits at a character that has no backslash before it. */
function splitOn(text: string, separator: string): string[] {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === separator) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}
