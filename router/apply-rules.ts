import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { clientGroup } from '@quayside/contract/forwarded.ts'
import { answerFailure } from './answer-failure.ts'
import { addressOf } from './client-address.ts'
import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import { preflightOf, type Rules, refusalBy } from './rules.ts'
import type { Traffic } from './traffic.ts'

/** A request under the rules of the route of this name. */
interface Ruled {
  readonly rules: Rules
  readonly name: string
  readonly head: RequestHead
}

/** Answers what the rules of the route alone decide; false: the request goes on. */
export function answeredByRules(
  traffic: Traffic,
  request: IncomingMessage,
  response: ServerResponse,
  ruled: Ruled,
): boolean {
  const { rules, head } = ruled
  if (rules.isOpen && !head.hasBody) return false
  const refuse = (failure: Failure): true => {
    traffic.counts.refused++
    answerFailure(request, response, failure, head)
    return true
  }
  const failure = refusalOf(request, ruled)
  if (failure) return refuse(failure)
  // Browsers ask that without a password.
  const { origin, 'access-control-request-method': asked } = request.headers
  const preflight = preflightOf(rules, { method: request.method ?? '', origin, asks: asked !== undefined })
  if (!preflight) {
    const shut = challengeOf(traffic, request, ruled)
    return shut ? refuse(shut) : false
  }
  response.writeHead(204, [...preflight])
  response.end()
  return true
}

/** Why the rules let nothing of this client through. */
export function refusalOf(request: IncomingMessage, { rules, name, head }: Ruled): Failure | undefined {
  const length = Number(request.headers['content-length'] ?? 0)
  return refusalBy(rules, { client: head.client, length, name })
}

/** Why a request is not let in without another password; undefined where its own is good, or none is asked for. */
export function challengeOf(
  traffic: Traffic,
  request: IncomingMessage,
  { rules, name, head }: Ruled,
): Failure | undefined {
  const { basicAuth } = rules.given
  if (!basicAuth) return undefined
  const verdict = traffic.passwords.check(basicAuth, request.headers.authorization, clientGroup(head.client))
  if (verdict === 'good') return undefined
  if (verdict === 'busy') {
    const message = `${name} was asked with too many wrong passwords. Try again in a moment.`
    return { status: 429, message, retryAfterSeconds: 1 }
  }
  const realm = name.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')
  return {
    status: 401,
    message: `${name} asks for a login and a password.`,
    challenge: `Basic realm="${realm}", charset="UTF-8"`,
  }
}

/** Whether the rules let nothing through from where a bare connection comes. */
export const refusalOfClient = (client: Pick<Socket, 'remoteAddress'>, rules: Rules): boolean =>
  refusalBy(rules, { client: addressOf(client), length: 0, name: '' }) !== undefined
