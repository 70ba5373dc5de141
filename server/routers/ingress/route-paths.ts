/** A path of an Ingress. */
export interface RoutePath {
  readonly path: string
  readonly pathType: 'Exact' | 'Prefix'
}

/**
 * Returns the paths of an Ingress that match the path of a route and the paths below it. By default
 * Traefik compares `Prefix` by characters, so `/api` alone would match `/apiary`.
 */
export const pathsOf = (path: string | undefined): readonly RoutePath[] =>
  path === undefined
    ? [{ path: '/', pathType: 'Prefix' }]
    : [
        { path, pathType: 'Exact' },
        { path: `${path}/`, pathType: 'Prefix' },
      ]

/** Returns a path for a regular expression. Paths of routes have no other special character. */
export const escapedPath = (path: string): string => path.replaceAll('.', String.raw`\.`)
