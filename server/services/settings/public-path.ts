import { isRoutePath } from '@quayside/contract/routes.ts'

/** The requests that a public port accepts, and the path that its service sees. */
export interface PublicPath {
  /** `/` accepts all requests. */
  readonly path: string
  /** The path that replaces `path`; undefined: the path is unchanged. */
  readonly rewrite: string | undefined
}

interface PathFields {
  readonly public_path?: string | null
  readonly public_path_rewrite?: string | null
}

/**
 * Ends of patterns that match everything below a path, with the number of the group that captures
 * it.
 */
const tails: readonly (readonly [end: string, group: number])[] = [
  ['(/|$)(.*)', 2],
  ['/?(.*)', 1],
  ['/(.*)', 1],
  ['/.*', 0],
]

/**
 * Reads the path of a port: `/api`, or a pattern that ends with everything below it, such as
 * `/api/(.*)`. A pattern is rewritten to `/v1/$1`, a plain path to `/v1`. Throws an Error whose
 * message begins with the invalid field's name, without its prefix.
 */
export function readPublicPath({ public_path, public_path_rewrite }: PathFields): PublicPath {
  const given = public_path || '/'
  const [end = '', group] = tails.find(([tail]) => given.endsWith(tail)) ?? []
  const path = plainPath(given.slice(0, given.length - end.length))
  if (path === undefined) {
    throw new Error(
      'public_path must be a path such as /api, of letters, digits, "-", ".", "_" and "~", or such a path ' +
        'followed by /(.*), /?(.*), (/|$)(.*) or /.*. Other patterns are not available.',
    )
  }
  return { path, rewrite: public_path_rewrite ? readRewrite(public_path_rewrite, group) : undefined }
}

/** Returns the rewrite: `/v1/$1` with a group, `/v1` without one. */
function readRewrite(given: string, group: number | undefined): string {
  const end = group ? `/$${group}` : ''
  const rewrite = given.endsWith(end) ? plainPath(given.slice(0, given.length - end.length)) : undefined
  if (rewrite !== undefined) return rewrite
  const wanted = end === '' ? 'a path such as /v1 or /' : `a path that ends with ${end}, such as /v1${end}`
  throw new Error(`public_path_rewrite must be ${wanted}, of letters, digits, "-", ".", "_" and "~".`)
}

/** Returns the path without its closing slash; undefined if it is not a path. */
function plainPath(text: string): string | undefined {
  const path = text.endsWith('/') ? text.slice(0, -1) : text
  if (path === '') return '/'
  return isRoutePath(path) ? path : undefined
}

/** Returns whether a port accepts every path and passes it on unchanged. */
export const takesEverything = ({ path, rewrite }: PublicPath): boolean => path === '/' && rewrite === undefined

/**
 * Returns whether a public port answers at the main host name of its service and at its custom
 * domains. Its own host name always works.
 */
export const sharesHost = ({ is_default }: { readonly is_default: boolean }, { path }: PublicPath): boolean =>
  is_default || path !== '/'
