import type { Socket } from 'node:net'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import { answerFailure } from './answer-failure.ts'
import { addressOf } from './client-address.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { monotonic } from './clock.ts'
import type { Failure } from './pages.ts'
import type { Verdict } from './passwords.ts'
import type { RequestHead } from './request-head.ts'
import { preflightOf, type Rules, readableBy, refusalBy } from './rules.ts'
import { signInFailure } from './sign-in.ts'
import type { Traffic } from './traffic.ts'
import { maintenanceOf, redirectOf } from './visitor-rules.ts'

/** Why a request does not go to an endpoint, now or later. */
export type Door = Failure | undefined | Promise<Failure | undefined>

/** A request, with the rules and name of its route. */
interface Ruled {
  readonly rules: Rules
  readonly name: string
  readonly service: string
  /** The organization of the service. */
  readonly owner: string
  readonly head: RequestHead
}

/**
 * Answers a request that the route's rules decide alone. Returns false if it goes to an endpoint. A
 * promise if a password has to be checked first.
 */
export function answeredByRules(
  traffic: Traffic,
  request: ClientRequest,
  response: ClientResponse,
  ruled: Ruled,
): boolean | Promise<boolean> {
  const { rules, head } = ruled
  const refuse = (failure: Failure | undefined): boolean => {
    if (!failure || response.destroyed) return failure !== undefined
    traffic.counts.refused++
    answerFailure(request, response, readableBy(failure, rules, request.headers.origin), head)
    return true
  }
  const failure = refusalOf(traffic, request, ruled)
  if (failure) return refuse(failure)
  // Browsers send a preflight without a password, and follow no redirect of it.
  const { origin, 'access-control-request-method': asked } = request.headers
  const preflight = preflightOf(rules, { method: request.method ?? '', origin, asks: asked !== undefined })
  if (!preflight) {
    const shut = doorOf(traffic, request, ruled)
    return shut instanceof Promise ? shut.then(refuse) : refuse(shut)
  }
  response.writeHead(204, [...preflight])
  response.end()
  return true
}

/**
 * Returns why the rules refuse a request: its client, the length of its body, or maintenance.
 * Undefined if they do not.
 */
export function refusalOf(traffic: Traffic, request: ClientRequest, ruled: Ruled): Failure | undefined {
  const { rules, name, head } = ruled
  const length = Number(request.headers['content-length'] ?? 0)
  return (
    refusalBy(rules, { client: head.client, length, name }) ??
    excessOf(traffic, ruled) ??
    maintenanceOf(rules, head.client)
  )
}

/** Returns why a client has sent too many requests. Undefined if it has not. */
function excessOf({ requestLimits }: Traffic, { rules, name, service, owner, head }: Ruled): Failure | undefined {
  const { requestsPerMinute: most } = rules.given
  const waitMs = most
    ? requestLimits.take({ owner, client: `${service} ${clientGroup(head.client)}` }, most, monotonic())
    : 0
  if (waitMs === 0) return undefined
  const message = `${name} answers at most ${most} requests a minute of one client.`
  return { status: 429, message, retryAfterSeconds: Math.ceil(waitMs / 1000) }
}

/**
 * Returns the redirect of a request, or why its sender has to be identified first. Undefined if it
 * may go to an endpoint. A promise if a password has to be checked first.
 */
export const doorOf = (traffic: Traffic, request: ClientRequest, ruled: Ruled): Door =>
  redirectOf(ruled.rules, request.url ?? '/', ruled.head) ??
  signInFailure(traffic, request, ruled) ??
  challengeOf(traffic, request, ruled)

/** Replaces headers of a request by the ones that its endpoint gets. */
export function setRequestHeaders(rules: Rules | undefined, { forwarded }: RequestHead): void {
  for (const [name, value] of Object.entries(rules?.given.requestHeaders ?? {})) {
    const lower = name.toLowerCase()
    for (let index = forwarded.length - 2; index >= 0; index -= 2) {
      if (forwarded[index]?.toLowerCase() === lower) forwarded.splice(index, 2)
    }
    forwarded.push(name, value)
  }
}

/**
 * Returns why the request's password is rejected. Undefined if it is valid, or if the route needs
 * none.
 */
function challengeOf(traffic: Traffic, request: ClientRequest, { rules, name, service, owner, head }: Ruled): Door {
  const { logins } = rules
  if (!logins) return undefined
  const asker = { owner, service, client: clientGroup(head.client) }
  const verdict = traffic.passwords.check(logins, request.headers.authorization, asker)
  return verdict instanceof Promise ? verdict.then((later) => rejection(later, name)) : rejection(verdict, name)
}

function rejection(verdict: Verdict, name: string): Failure | undefined {
  if (verdict === 'good') return undefined
  if (verdict === 'busy') {
    const message = `${name} received too many wrong passwords. Try again in a moment.`
    return { status: 429, message, retryAfterSeconds: 1 }
  }
  const realm = name.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')
  return {
    status: 401,
    message: `${name} requires a login and a password.`,
    challenge: `Basic realm="${realm}", charset="UTF-8"`,
  }
}

/** Returns whether the rules reject the address of a TCP or UDP client. */
export const refusalOfClient = (client: Pick<Socket, 'remoteAddress'>, rules: Rules): boolean =>
  refusalBy(rules, { client: addressOf(client), length: 0, name: '' }) !== undefined
