import { withoutEnds } from '../lib/trim.ts'
import { isRepositoryName } from './names.ts'

/**
 * What two addresses of one repository have in common: `host/owner/name` in lower case, or `/git/name` for one of the built-in git
 * host, whose origins `home` are. Scheme, user, `.git` and slashes at the end do not count, nor does the port of ssh; the port of http
 * does. Undefined for what is no address of a repository.
 */
export function repositoryKey(address: string, home: readonly string[]): string | undefined {
  if (address.length > 4096 || /[\s\p{Cc}]/u.test(address)) return undefined
  const [, scpHost, scpPath] = /^(?:[^@/:]+@)([^/:]+):(?!\/\/)(.+)$/.exec(address) ?? []
  if (scpHost !== undefined && scpPath !== undefined) return keyOf(scpHost, scpPath)
  const url = URL.parse(address)
  if (url === null) return undefined
  if (url.protocol === 'http:' || url.protocol === 'https:') {
    return home.some((origin) => URL.parse(origin)?.origin === url.origin)
      ? homeKeyOf(url.pathname)
      : keyOf(url.host, url.pathname)
  }
  if (!/^(?:ssh|git\+ssh|git):$/.test(url.protocol)) return undefined
  return keyOf(url.hostname, url.pathname)
}

/** Of a repository of the built-in git host. No host begins with a slash, so it is never that of another address. */
export const hostedKey = (name: string): string => `/git/${name}`

function homeKeyOf(path: string): string | undefined {
  const name = /^\/git\/([^/]+)\.git\/*$/.exec(path)?.[1]
  return name !== undefined && isRepositoryName(name) ? hostedKey(name) : undefined
}

function keyOf(host: string, path: string): string | undefined {
  const name = withoutEnds(path, '/').replace(/\.git$/i, '')
  return host !== '' && name !== '' ? `${host}/${name}`.toLowerCase() : undefined
}
