import { withoutEnd } from '../lib/trim.ts'
import type { RestrictionValues } from '../services/index.ts'

export type Restriction = Pick<RestrictionValues, 'mode' | 'value'>

/**
 * Pure: whether these changed files are a reason to deploy a service, or why not. Counted are files below its root path, or, where it
 * has restrictions of the mode MATCH, those that one of them names; never those that one of the mode EXCLUDE names. Undefined paths
 * are not known, and none at all is an empty commit, which is pushed to have something deployed: both are a reason.
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
    ? 'No changed file is one that its deployment restrictions match.'
    : `No changed file is below its root path "${rootPath}".`
}

/** Whether a path has to be looked at to know. */
export const needsPaths = (rootPath: string, restrictions: readonly Restriction[]): boolean =>
  restrictions.length > 0 || plain(rootPath) !== ''

/** Each value names a file, or everything in a directory; with a star at its end, whatever begins so. */
function isNamedBy(values: readonly string[]): (path: string) => boolean {
  const names = new Set(values.filter((value) => !value.endsWith('*')).map(plain))
  const beginnings = values
    .filter((value) => value.endsWith('*'))
    .map((value) => withoutEnd(value.replace(/^\.?\/+/, ''), '*'))
  if (names.has('')) return () => true
  const longest = Math.max(0, ...[...names].map(({ length }) => length))
  return (path) => {
    if (beginnings.some((beginning) => path.startsWith(beginning))) return true
    // Nothing longer than the longest name can be one.
    const first = path.length > longest ? path.lastIndexOf('/', longest) : path.length
    for (let end = first; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (names.has(path.slice(0, end))) return true
    }
    return false
  }
}

/** `./a/b/` as `a/b`; the top as nothing. */
const plain = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
