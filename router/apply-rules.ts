import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerFailure } from './answer-failure.ts'
import type { Failure } from './pages.ts'
import { preflightOf, type Rules, refusalBy } from './rules.ts'
import type { Traffic } from './traffic.ts'

/** Answers what the rules of the route alone decide; false: the request goes on. */
export function answeredByRules(
  traffic: Traffic,
  request: IncomingMessage,
  response: ServerResponse,
  { rules, name, hasBody }: { readonly rules: Rules; readonly name: string; readonly hasBody: boolean },
): boolean {
  const refuse = (failure: Failure): true => {
    traffic.counts.refused++
    answerFailure(request, response, failure, { hasBody })
    return true
  }
  const failure = refusalOf(traffic, request, { rules, name })
  if (failure) return refuse(failure)
  // Browsers ask that without a password.
  const { origin, 'access-control-request-method': asked } = request.headers
  const preflight = preflightOf(rules, { method: request.method ?? '', origin, asks: asked !== undefined })
  if (!preflight) {
    const shut = challengeOf(traffic, request, { rules, name })
    return shut ? refuse(shut) : false
  }
  response.writeHead(204, [...preflight])
  response.end()
  return true
}

/** Why the rules let nothing of this client through. */
export function refusalOf(
  traffic: Traffic,
  request: IncomingMessage,
  { rules, name }: { readonly rules: Rules; readonly name: string },
): Failure | undefined {
  const length = Number(request.headers['content-length'] ?? 0)
  return refusalBy(rules, { client: clientOf(traffic, request), length, name })
}

/** Why a request is not let in without another password; undefined where its own is good, or none is asked for. */
export function challengeOf(
  traffic: Traffic,
  request: IncomingMessage,
  { rules, name }: { readonly rules: Rules; readonly name: string },
): Failure | undefined {
  const { basicAuth } = rules.given
  if (!basicAuth) return undefined
  const verdict = traffic.passwords.check(basicAuth, request.headers.authorization, clientOf(traffic, request))
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
export function refusalOfClient({ remoteAddress = '0.0.0.0' }: Pick<Socket, 'remoteAddress'>, rules: Rules): boolean {
  const client = remoteAddress.replace(/^::ffff:/, '')
  return refusalBy(rules, { client, length: 0, name: '' }) !== undefined
}

/** The address that the rules are about: the nearest one that is no trusted proxy. */
function clientOf(traffic: Traffic, { socket, headers }: IncomingMessage): string {
  const given = headers['x-forwarded-for']
  const hops = [...String(given ?? '').split(','), socket.remoteAddress ?? '0.0.0.0']
  const addresses = hops.map((hop) => hop.trim().replace(/^::ffff:/, '')).filter((hop) => hop !== '')
  return addresses.findLast((address) => !traffic.trusts(address)) ?? addresses[0] ?? '0.0.0.0'
}
