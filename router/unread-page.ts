import type { ClientRequest } from './client-message.ts'
import { isBehindHaproxy } from './connection-facts.ts'

/**
 * The header by which HAProxy gets the page of a failure that ends a request before its body has
 * arrived. HAProxy then sends the page itself and closes the connection. Otherwise it would wait
 * for the rest of the body.
 */
export const pageHeader = 'x-quayside-page'

/** The statuses of such pages. Pages with other statuses are passed on in the usual way. */
export const unreadStatuses = [401, 403, 404, 408, 413, 415, 421, 429, 431, 500, 502, 503, 504] as const

/** Returns the header for HAProxy. It has none if HAProxy is not in front. */
export function pageForHaproxy({ socket }: ClientRequest, body: Buffer): string[] {
  // HAProxy would encode line feeds.
  const line = body.toString().replaceAll('\n', ' ')
  return isBehindHaproxy(socket) ? [pageHeader, Buffer.from(line).toString('base64')] : []
}
