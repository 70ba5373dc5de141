import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import type { Rules } from './rules.ts'

const maintenanceSeconds = 60

/** Returns the answer of a service in maintenance. Undefined if this client reaches the service. */
export function maintenanceOf({ given: { maintenance }, passes }: Rules, client: string): Failure | undefined {
  if (!maintenance || passes?.(client)) return undefined
  return { status: 503, message: maintenance.message, retryAfterSeconds: maintenanceSeconds }
}

/** Returns the redirect of a request. Undefined without one. */
export function redirectOf({ redirects }: Rules, url: string, head: Sent): Failure | undefined {
  const origin = `${head.isSecure ? 'https' : 'http'}://${head.host ?? ''}`
  const found = redirects?.({ origin, url })
  return found && { ...found, message: `This address has moved to ${found.location}.` }
}

type Sent = Pick<RequestHead, 'host' | 'isSecure'>
