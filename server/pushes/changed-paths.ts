import { withoutEnd } from '../lib/trim.ts'
import type { RestrictionValues } from '../services/index.ts'

export type Restriction = Pick<RestrictionValues, 'mode' | 'value'>

/**
 * Decides whether changed files are a reason to deploy a service, and returns the reason if not.
 * Files below its root path count. If it has restrictions of the mode MATCH, the files that one of
 * them names count instead. Files that a restriction of the mode EXCLUDE names never count.
 * Undefined paths are unknown, and an empty list is an empty commit, which people push to trigger a
 * deployment: both are a reason.
 */
export function whyNotChanged(
  paths: readonly string[] | undefined,
  rootPath: string,
  restrictions: readonly Restriction[],
): string | undefined {
  if (paths === undefined || paths.length === 0) return undefined
  const values = (wanted: Restriction['mode']): string[] =>
    restrictions.filter(({ mode }) => mode === wanted).map(({ value }) => value)
  const [matching, excluding] = [values('MATCH'), values('EXCLUDE')]
  const isIn = isNamedBy(matching.length > 0 ? matching : [rootPath])
  const isExcluded = isNamedBy(excluding)
  const inside = paths.filter(isIn)
  if (inside.some((path) => !isExcluded(path))) return undefined
  if (inside.length > 0) return 'Every changed file is excluded by its deployment restrictions.'
  return matching.length > 0
    ? 'No changed file matches its deployment restrictions.'
    : `No changed file is below its root path "${rootPath}".`
}

/** Whether the decision depends on a path. */
export const needsPaths = (rootPath: string, restrictions: readonly Restriction[]): boolean =>
  restrictions.length > 0 || plain(rootPath) !== ''

/**
 * Each value names a file or everything in a directory. With a star at its end it names every path
 * with that prefix.
 */
function isNamedBy(values: readonly string[]): (path: string) => boolean {
  const names = new Set(values.filter((value) => !value.endsWith('*')).map(plain))
  const beginnings = values
    .filter((value) => value.endsWith('*'))
    .map((value) => withoutEnd(value.replace(/^\.?\/+/, ''), '*'))
  if (names.has('')) return () => true
  const longest = Math.max(0, ...[...names].map(({ length }) => length))
  return (path) => {
    if (beginnings.some((beginning) => path.startsWith(beginning))) return true
    // A prefix longer than the longest name cannot match.
    const first = path.length > longest ? path.lastIndexOf('/', longest) : path.length
    for (let end = first; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (names.has(path.slice(0, end))) return true
    }
    return false
  }
}

/** Returns `./a/b/` as `a/b`, and the top directory as an empty text. */
const plain = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
