import { clientGroup } from '@quayside/contract/forwarded.ts'
import { doorHeader } from '@quayside/contract/routes.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import type { Target } from './target.ts'
import type { Traffic } from './traffic.ts'

/** The part of all open requests at the platform that one client may have. */
const shareOfClient = 1 / 4

/** A message to the client, or to the application behind it, that reports its end. */
interface Ends {
  once(event: 'close', listener: () => void): unknown
}

/**
 * Lets a request pass to the platform itself: adds the secret of this router, and counts the
 * request for its client until `message` closes. Returns why the client may not have one more. Does
 * nothing for other services.
 *
 * The server sees all requests of the router as connections of one client. So its room is divided
 * here.
 */
export function enterDoor(
  { certificates: { door }, connections, doorShares, trusts }: Traffic,
  target: Target | undefined,
  { forwarded, client }: RequestHead,
  message: Ends,
): Failure | undefined {
  if (!door || target?.route.service !== door.service) return undefined
  forwarded.push(doorHeader, door.secret)
  // A proxy that does not name its clients serves all of them.
  if (trusts(client)) return undefined
  const group = clientGroup(client)
  const room = Math.min(limits.openPerEndpoint, connections.perClient)
  if (!doorShares.take(group, Math.max(1, Math.floor(room * shareOfClient)))) {
    return { status: 429, message: 'Your address has too many open requests here. Try again.', retryAfterSeconds: 1 }
  }
  message.once('close', () => doorShares.release(group))
  return undefined
}
