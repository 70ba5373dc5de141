import type { RedirectRule } from '@quayside/contract/routes.ts'
import type { Failure } from './pages.ts'
import type { Rules } from './rules.ts'

const maintenanceSeconds = 60

/** Returns the answer of a service in maintenance. Undefined if this client reaches the service. */
export function maintenanceOf({ given: { maintenance }, passes }: Rules, client: string): Failure | undefined {
  if (!maintenance || passes?.(client)) return undefined
  return { status: 503, message: maintenance.message, retryAfterSeconds: maintenanceSeconds }
}

/** Returns the redirect by the first rule for a request target's path. Undefined without one. */
export function redirectOf(redirects: readonly RedirectRule[] | undefined, url: string): Failure | undefined {
  if (!redirects) return undefined
  const query = url.indexOf('?')
  const path = query === -1 ? url : url.slice(0, query)
  for (const { from, to, status } of redirects) {
    const rest = restOf(path, from)
    if (rest === undefined) continue
    const place = to.endsWith('/*') ? to.slice(0, -1) + rest : to
    const location = query === -1 ? place : withQuery(place, url.slice(query))
    return { status, message: `This address has moved to ${location}.`, location }
  }
  return undefined
}

/** Adds a query to an address that has none, before its fragment. */
function withQuery(place: string, query: string): string {
  const [address = '', ...fragment] = place.split('#')
  return address.includes('?') ? place : [address + query, ...fragment].join('#')
}

/**
 * Returns what a rule leaves of a path. Undefined if the rule is for others. Slashes at its
 * beginning are left out, because `//host` would be another host.
 */
function restOf(path: string, from: string): string | undefined {
  if (!from.endsWith('/*')) return path === from ? '' : undefined
  const base = from.slice(0, -2)
  if (path === base) return ''
  return path.startsWith(`${base}/`) ? path.slice(base.length + 1).replace(/^[/\\]+/, '') : undefined
}
