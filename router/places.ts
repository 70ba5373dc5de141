import { normalPath, queryOf, withoutParameters } from './normal-path.ts'

/** The path of a route below its host name, and what its endpoints see instead. */
export interface Place {
  /** `/`, or segments without a trailing slash. */
  readonly path: string
  /** Replaces `path`. Undefined leaves the path unchanged. */
  readonly rewrite: string | undefined
}

/**
 * Returns the path and query that an endpoint receives. The target must already match the place.
 */
export function forwardedTarget({ path, rewrite }: Place, target: string): string {
  const normal = normalPath(target) ?? '/'
  const query = queryOf(target)
  if (rewrite !== undefined) return moved(normal, path, rewrite) + query
  const isNormal = normal.length + query.length === target.length && target.startsWith(normal)
  return isNormal ? target : normal + query
}

function moved(normal: string, path: string, rewrite: string): string {
  const depth = path === '/' ? 0 : path.split('/').length - 1
  const rest =
    depth === 0
      ? normal
      : `/${normal
          .split('/')
          .slice(depth + 1)
          .join('/')}`
  const isAll = depth > 0 && normal.split('/').length === depth + 1
  if (isAll) return rewrite
  return rewrite === '/' ? rest : rewrite + rest
}

/** The routes of one host name. A request goes to the route with the longest matching path. */
export class Places<T extends { readonly place: Place }> {
  readonly #byPath: ReadonlyMap<string, T>
  readonly #longest: number

  constructor(targets: readonly T[]) {
    this.#byPath = new Map(targets.map((target) => [target.place.path, target]))
    this.#longest = Math.max(...targets.map(({ place }) => place.path.length))
  }

  /** The routes, in no order. */
  get all(): readonly T[] {
    return [...this.#byPath.values()]
  }

  /** Finds the route of a path, which must be in its normal form. */
  find(normal: string): T | undefined {
    // A path longer than every route is cut first, so that the search stays short.
    const path = withoutParameters(normal)
    let end = path.length > this.#longest ? boundary(path, this.#longest) : path.length
    if (end > 1 && path[end - 1] === '/') end--
    while (end > 1) {
      const found = this.#byPath.get(path.slice(0, end))
      if (found) return found
      end = path.lastIndexOf('/', end - 1)
    }
    return this.#byPath.get('/')
  }
}

/** Returns the end of the last whole segment among the first `length` characters. */
const boundary = (path: string, length: number): number =>
  path[length] === '/' ? length : path.lastIndexOf('/', length)
