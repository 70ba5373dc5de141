import { createHash, randomBytes } from 'node:crypto'
import { signInMs } from '@quayside/contract/sign-in.ts'
import { limits } from './limits.ts'

/**
 * `start` has the secret of a browser that was sent to the sign-in page. `access` has that secret
 * and the token, separated by a dot.
 */
type CookieKind = 'start' | 'access'

/** One cookie of the router. */
export interface OwnCookie {
  readonly kind: CookieKind
  readonly service: string
  /** Whether the client uses HTTPS. */
  readonly isSecure: boolean
}

const startSeconds = 900
const secretForm = /^[\w-]{43}$/
/** The names of this router's cookies, with HTTPS and without. */
const ownName = /^(?:__Host-)?quayside-(?:start|access)-/i

/** A browser accepts a name with `__Host-` from this host alone, and over HTTPS only. */
const nameOf = ({ kind, service, isSecure }: OwnCookie): string =>
  `${isSecure ? '__Host-' : ''}quayside-${kind}-${service.slice(-12)}`

/**
 * Returns the values of a cookie that a request has, at most a few. Only spaces are removed around
 * names: another host of the domain may set the name `\u00a0__Host-…`.
 */
export function cookieValues(header: string | undefined, cookie: OwnCookie): readonly string[] {
  if (header === undefined) return []
  const start = `${nameOf(cookie)}=`
  return header
    .split(';')
    .map((pair) => pair.replace(/^ +/, ''))
    .filter((pair) => pair.startsWith(start))
    .slice(0, limits.triedCookies)
    .map((pair) => pair.slice(start.length))
}

/** Returns the value of a `Set-Cookie` header. An empty value deletes the cookie. */
export function setCookie(cookie: OwnCookie, value: string): string {
  const seconds = value === '' ? 0 : cookie.kind === 'start' ? startSeconds : signInMs / 1000
  const secure = cookie.isSecure ? '; Secure' : ''
  return `${nameOf(cookie)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`
}

/**
 * Removes this router's cookies from the headers of a request. Services that share a host would
 * otherwise receive each other's.
 */
export function withholdCookies(headers: string[]): void {
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    const value = headers[index + 1] ?? ''
    if (headers[index]?.toLowerCase() !== 'cookie' || !/quayside-/i.test(value)) continue
    const kept = value.split(';').filter((pair) => !ownName.test(pair.trim()))
    if (kept.length === 0) headers.splice(index, 2)
    else headers[index + 1] = kept.join(';').trim()
  }
}

/** Returns the secret with which a browser begins: the one that it has, or a new one. */
export const secretOf = (header: string | undefined, cookie: OwnCookie): string =>
  cookieValues(header, cookie).find((value) => secretForm.test(value)) ?? randomBytes(32).toString('base64url')

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url')
