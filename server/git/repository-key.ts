import { withoutEnds } from '../lib/trim.ts'
import { isRepositoryName } from './names.ts'

/**
 * Returns a key that is equal for all addresses of one repository: `host/owner/name` in lower case,
 * or `/git/name` for the built-in git host with the origins `home`. Scheme, user, `.git`, trailing
 * slashes and the port of ssh are ignored. The port of http is not. Undefined for texts that are
 * not the address of a repository.
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

/**
 * The key of a repository of the built-in git host. No host begins with a slash, so it equals no
 * other key.
 */
export const hostedKey = (name: string): string => `/git/${name}`

/** Returns whether an address is on the built-in git host. */
export const isHosted = (address: string, home: readonly string[]): boolean =>
  repositoryKey(address, home)?.startsWith(hostedKey('')) ?? false

function homeKeyOf(path: string): string | undefined {
  const name = /^\/git\/([^/]+)\.git\/*$/.exec(path)?.[1]
  return name !== undefined && isRepositoryName(name) ? hostedKey(name) : undefined
}

function keyOf(host: string, path: string): string | undefined {
  const name = withoutEnds(path, '/').replace(/\.git$/i, '')
  return host !== '' && name !== '' ? `${host}/${name}`.toLowerCase() : undefined
}
