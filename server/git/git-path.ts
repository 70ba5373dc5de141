import { isRepositoryName } from './names.ts'

export type ServicePath = '/info/refs' | '/git-upload-pack' | '/git-receive-pack'

/** A path of git's smart HTTP protocol. */
export interface GitPath {
  readonly repository: string
  readonly servicePath: ServicePath
  /**
   * Whether this call writes. Undefined if it is not a call of the smart protocol: answer 403.
   * `query` is without "?".
   */
  needsWrite(method: string, query: string): boolean | undefined
}

/**
 * Parses `/git/<repository>.git/…` as written in the request (not decoded). Undefined for every
 * other path, including the files of the old "dumb" protocol: answer 404.
 */
export function parseGitPath(pathname: string): GitPath | undefined {
  const [, repository, path] = /^\/git\/([^/]+)\.git(\/.+)$/.exec(pathname) ?? []
  const servicePath = servicePaths.find((known) => known === path)
  if (repository === undefined || !isRepositoryName(repository) || servicePath === undefined) return undefined
  return {
    repository,
    servicePath,
    needsWrite(method, query) {
      const service = serviceOf(servicePath, method, query)
      return service === undefined ? undefined : service === 'git-receive-pack'
    },
  }
}

const servicePaths: readonly ServicePath[] = ['/info/refs', '/git-upload-pack', '/git-receive-pack']

/**
 * Returns which of git's two services a call uses. Undefined if method and query do not fit the
 * path.
 */
export function serviceOf(
  servicePath: ServicePath,
  method: string,
  query: string,
): 'git-upload-pack' | 'git-receive-pack' | undefined {
  const asked = servicePath === '/info/refs' ? new URLSearchParams(query).getAll('service') : [servicePath.slice(1)]
  if (asked.length !== 1 || method !== (servicePath === '/info/refs' ? 'GET' : 'POST')) return undefined
  return asked[0] === 'git-upload-pack' || asked[0] === 'git-receive-pack' ? asked[0] : undefined
}
