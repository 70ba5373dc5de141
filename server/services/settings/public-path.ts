import { isRoutePath } from '@quayside/contract/routes.ts'

/** Which requests a public port takes, and what its service sees of their paths. */
export interface PublicPath {
  /** `/`: all of them. */
  readonly path: string
  /** The path that replaces `path`; undefined: the path is unchanged. */
  readonly rewrite: string | undefined
}

interface PathFields {
  readonly public_path?: string | null
  readonly public_path_rewrite?: string | null
}

/**
 * Ends of patterns that take everything below a path, with the number of the group that holds it.
 */
const tails: readonly (readonly [end: string, group: number])[] = [
  ['(/|$)(.*)', 2],
  ['/?(.*)', 1],
  ['/(.*)', 1],
  ['/.*', 0],
]

/**
 * Reads the path of a port: `/api`, or the same as a pattern that ends with everything below it,
 * such as `/api/(.*)`. A pattern is rewritten to `/v1/$1`, a plain path to `/v1`. Throws an Error
 * whose message follows the name of the field that is wrong.
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

/** With a group, `/v1/$1`; without one, `/v1`. */
function readRewrite(given: string, group: number | undefined): string {
  const end = group ? `/$${group}` : ''
  const rewrite = given.endsWith(end) ? plainPath(given.slice(0, given.length - end.length)) : undefined
  if (rewrite !== undefined) return rewrite
  const wanted = end === '' ? 'a path such as /v1 or /' : `a path that ends with ${end}, such as /v1${end}`
  throw new Error(`public_path_rewrite must be ${wanted}, of letters, digits, "-", ".", "_" and "~".`)
}

/** Without its closing slash; undefined if it is not a path. */
function plainPath(text: string): string | undefined {
  const path = text.endsWith('/') ? text.slice(0, -1) : text
  if (path === '') return '/'
  return isRoutePath(path) ? path : undefined
}

/** Whether a port takes every path and shows it to its service as it is. */
export const takesEverything = ({ path, rewrite }: PublicPath): boolean => path === '/' && rewrite === undefined

/**
 * Whether a public port answers at the main host name of its service and at its custom domains; its
 * own host name it has anyway.
 */
export const sharesHost = ({ is_default }: { readonly is_default: boolean }, { path }: PublicPath): boolean =>
  is_default || path !== '/'
