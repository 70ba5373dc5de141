import type { RedirectRule } from './routes.ts'

/** A request as its client addressed it. */
export interface Addressed {
  /** The scheme and host, such as `https://shop.example`. */
  readonly origin: string
  /** The path and query, as sent. */
  readonly url: string
}

export interface Redirection {
  readonly location: string
  readonly status: RedirectRule['status']
}

/** Returns where a request is redirected. Undefined if it is not. */
export type Redirecting = (request: Addressed) => Redirection | undefined

/**
 * Compiles redirects. The first rule that matches decides. A rule that leads a request to its own
 * address does not match, so `/*` may lead to one page, or to one host name of several.
 */
export function compileRedirects(rules: readonly RedirectRule[]): Redirecting {
  const compiled = rules.map((rule) => ({ ...rule, restOf: matching(rule.from) }))
  return (request) => {
    const { url } = request
    const query = url.indexOf('?')
    const path = query === -1 ? url : url.slice(0, query)
    const read = readPath(path)
    for (const { to, status, restOf } of compiled) {
      const rest = restOf(path) ?? (read === path ? undefined : restOf(read))
      if (rest === undefined) continue
      const place = to.endsWith('/*') ? to.slice(0, -1) + rest : to
      const location = query === -1 ? place : withQuery(place, url.slice(query))
      if (!leadsTo(location, request)) return { location, status }
    }
    return undefined
  }
}

/** Returns the address to which a client resolves a location. Undefined if it is not valid. */
export function resolved(location: string, { origin, url }: Addressed): URL | undefined {
  const address = URL.parse(location, origin + url)
  if (address) address.hash = ''
  return address ?? undefined
}

const leadsTo = (location: string, request: Addressed): boolean => {
  const own = URL.parse(request.origin + request.url)
  return own !== null && resolved(location, request)?.href === own.href
}

/** Adds a query to an address that has none, before its fragment. */
function withQuery(place: string, query: string): string {
  const [address = '', ...fragment] = place.split('#')
  return address.includes('?') ? place : [address + query, ...fragment].join('#')
}

/**
 * Returns the function that returns what a rule leaves of a path, or undefined if the rule is for
 * others. Slashes at its beginning are left out, because `//host` would be another host.
 */
function matching(from: string): (path: string) => string | undefined {
  const isAll = from.endsWith('/*')
  const [written, plain] = [from, withPlainEscapes(from)].map((one) => (isAll ? one.slice(0, -2) : one))
  const bases = [...new Set([written ?? '', plain ?? ''])]
  if (!isAll) return (path) => (bases.includes(path) ? '' : undefined)
  return (path) => {
    const base = bases.find((one) => path.startsWith(one) && (path.length === one.length || path[one.length] === '/'))
    return base === undefined ? undefined : path.slice(base.length + 1).replace(/^[/\\]+/, '')
  }
}

/**
 * Returns the path as the most lenient application reads it: with plain escapes, `/` for encoded
 * and reverse slashes, and without empty segments, dot segments and parameters. Otherwise another
 * spelling of a path would pass a rule.
 */
function readPath(path: string): string {
  if (/^[/\w.~-]*$/.test(path) && !/\/[/.]/.test(path)) return path
  const segments: string[] = []
  const given = withPlainEscapes(path)
    .replace(/%2F|%5C|\\/g, '/')
    .split('/')
    .slice(1)
  for (const [index, segment] of given.entries()) {
    const name = segment.split(';', 1)[0] ?? ''
    const isLast = index === given.length - 1
    if (name === '..') segments.pop()
    if (name !== '' && name !== '.' && name !== '..') segments.push(name)
    else if (isLast) segments.push('')
  }
  return `/${segments.join('/')}`
}

/**
 * Returns a path whose escapes are in upper case, and only for characters that need one. Bytes that
 * are not visible ASCII get one.
 */
const withPlainEscapes = (path: string): string =>
  path
    .replace(/%[0-9A-Fa-f]{2}/g, (escaped) => {
      const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
      return needsNone.test(character) ? character : escaped.toUpperCase()
    })
    .replace(/[^\x21-\x7e]/g, (character) => encodeByte(character.charCodeAt(0)))

/** The characters of a path that have no other meaning, except `%`. */
const needsNone = /[A-Za-z0-9._~!$&'()+,=:@-]/

const encodeByte = (byte: number): string => `%${(byte & 0xff).toString(16).toUpperCase().padStart(2, '0')}`
