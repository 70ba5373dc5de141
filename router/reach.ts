import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { beginTry, type CanaryTry } from './canary-try.ts'
import { after, monotonic } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { failureOf, failureOfEndpoint, movedAway } from './endpoint-failure.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import type { Failure } from './pages.ts'
import { retryDelay } from './retry.ts'
import type { Target } from './target.ts'
import type { Traffic } from './traffic.ts'

/**
 * A client whose connection is to be joined with a connection to an endpoint. At most one of
 * `refuse` and `converse` is called, and only once.
 */
export interface Caller {
  readonly traffic: Traffic
  readonly client: Duplex
  /** The host name of the request, as the table has it. */
  readonly host: string
  /** The path and query of the request. Undefined for connections that are not HTTP. */
  readonly url?: string | undefined
  /** The service whose rules accepted the client. */
  readonly service: string
  /** The ids of endpoints that the client used before. */
  readonly wanted?: readonly string[] | undefined
  /** Whether the end of one direction leaves the other open. */
  readonly allowHalfOpen?: boolean
  refuse(failure: Failure): void
  /** The endpoint is held until the socket closes. */
  converse(reached: Reached): void
}

/** An endpoint to which a client is connected. */
export interface Reached {
  readonly socket: Socket
  readonly target: Target
  readonly endpoint: Endpoint
  readonly trial: CanaryTry | undefined
}

/**
 * Connects a client to an endpoint of its route. Waits if the service is asleep. Retries if that is
 * safe.
 */
export function reach(caller: Caller): void {
  attempt(caller, 1, monotonic())
}

function attempt(caller: Caller, tries: number, startedAt: number): void {
  const { traffic, host, url, client } = caller
  if (client.destroyed) return
  const target = traffic.routes.find(host, url)
  if (target && target.route.service !== caller.service) {
    caller.refuse(movedAway(host))
    return
  }
  const failure = failureOf(target, host)
  const endpoint = target && traffic.routes.choose(target, caller.wanted, tries > 1)
  const name = target?.route.name ?? host
  if (failure && target?.route.asleep && !traffic.closing) {
    const cancel = traffic.waiting.hold({ host, url }, target, {
      go: () => attempt(caller, 1, monotonic()),
      fail: (reason) => caller.refuse(reason),
    })
    client.once('close', cancel)
    return
  }
  if (failure || !target || !endpoint) {
    const full = { status: 503, message: `${name} has too many open requests.`, retryAfterSeconds: 1 } as const
    caller.refuse(failure ?? full)
    return
  }
  endpoint.hold()
  const trial = beginTry(endpoint)
  endpoint.connect((error, socket) => {
    if (error && !client.destroyed) trial?.failed()
    if (error) return unreached(caller, endpoint, error, { tries, startedAt })
    socket.once('close', () => endpoint.release())
    if (client.destroyed) socket.destroy()
    else caller.converse({ socket, target, endpoint, trial })
  }, caller.allowHalfOpen)
}

function unreached(
  caller: Caller,
  endpoint: Endpoint,
  error: Error,
  { tries, startedAt }: { tries: number; startedAt: number },
): void {
  const { traffic, host } = caller
  endpoint.release()
  endpoint.asideUntil = monotonic() + limits.asideMs
  const { final, page } = failureOfEndpoint(error)
  const elapsedMs = monotonic() - startedAt
  const delay = retryDelay({ tries, elapsedMs, sent: false, answered: false, safe: true, final })
  if (delay !== undefined) {
    traffic.counts.retries++
    after(delay, () => attempt(caller, tries + 1, startedAt))
    return
  }
  traffic.log.warn('connection failed at its endpoint', { host, endpoint: endpoint.label, error: describe(error) })
  const name = traffic.routes.find(host, caller.url)?.route.name ?? host
  caller.refuse({ status: page.status, message: `${name} ${page.predicate}` })
}
