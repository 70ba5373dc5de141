import type { IncomingMessage, ServerResponse } from 'node:http'
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
  const failure = refusalOf(traffic, request, { rules, name })
  if (failure) {
    traffic.counts.refused++
    answerFailure(request, response, failure, { hasBody })
    return true
  }
  const { origin, 'access-control-request-method': asked } = request.headers
  const preflight = preflightOf(rules, { method: request.method ?? '', origin, asks: asked !== undefined })
  if (!preflight) return false
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

/** The address that the rules are about: the nearest one that is no trusted proxy. */
function clientOf(traffic: Traffic, { socket, headers }: IncomingMessage): string {
  const given = headers['x-forwarded-for']
  const hops = [...String(given ?? '').split(','), socket.remoteAddress ?? '0.0.0.0']
  const addresses = hops.map((hop) => hop.trim().replace(/^::ffff:/, '')).filter((hop) => hop !== '')
  return addresses.findLast((address) => !traffic.trusts(address)) ?? addresses[0] ?? '0.0.0.0'
}
