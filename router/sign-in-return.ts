import { admittedSince, isReturnPath, type SignInRule, signInPath, tokenStartMs } from '@quayside/contract/sign-in.ts'
import type { ClientRequest } from './client-message.ts'
import { wallClock } from './clock.ts'
import { normalPath } from './normal-path.ts'
import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import { misdirection } from './secure.ts'
import { sessionOf } from './sign-in.ts'
import { cookieValues, digestOf, setCookie } from './sign-in-cookies.ts'
import { serviceOf } from './sign-in-tokens.ts'
import type { Traffic } from './traffic.ts'
import { isOver } from './visits.ts'

/** A request, with its host name in the form of `hostOf`. */
interface Asked {
  readonly head: RequestHead
  readonly host: string
}

/**
 * Answers a browser that comes back from the sign-in page with a token. Undefined for other
 * requests. The answer never leaves the token in the address of a page: pages of the same host
 * could read it there.
 */
export function signInReturn(traffic: Traffic, request: ClientRequest, { head, host }: Asked): Failure | undefined {
  const { url = '/' } = request
  if (!url.includes('quayside') || normalPath(url) !== signInPath) return undefined
  const guarded = traffic.routes.all(host).filter(({ rules }) => rules?.given.signIn)
  const [first] = guarded
  if (!first) return undefined
  const astray = misdirection(traffic, request, { head, host, target: first })
  if (astray) return astray
  if (!url.includes('?')) return useless
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1))
  const [token, path] = [query.get('token') ?? '', query.get('path') ?? '']
  const service = serviceOf(token)
  const rule = guarded.find(({ route }) => route.service === service)?.rules?.given.signIn
  const again = { status: 303, message: useless.message, location: signInPath } as const
  if (service === undefined || !rule || !isReturnPath(path)) return again
  const { isSecure } = head
  const back = { status: 303, message: 'You are signed in.', location: path } as const
  const secret = startedWith(traffic, request, { token, path, rule, service, host, isSecure })
  if (secret !== undefined) {
    const access = setCookie({ kind: 'access', service, isSecure }, `${secret}.${token}`)
    return { ...back, cookies: [access, setCookie({ kind: 'start', service, isSecure }, '')] }
  }
  // Another tab of the browser may have come back before.
  const known = sessionOf(traffic, request, { rule, service, host, isSecure })
  const isKnown = known && !isOver(known, admittedSince(traffic.routes.people, rule, known.account))
  return isKnown ? back : again
}

const useless: Failure = {
  status: 400,
  message:
    'Signing in did not work: the browser sent no cookie, or this address was used before or is too old. ' +
    'Allow cookies and open the application again.',
}

interface Offered {
  readonly token: string
  readonly path: string
  readonly rule: SignInRule
  readonly service: string
  readonly host: string
  readonly isSecure: boolean
}

/** Returns the secret of the browser for which the token was issued. Undefined if it is another. */
function startedWith({ tokens }: Traffic, { headers }: ClientRequest, offered: Offered): string | undefined {
  const { token, path, rule, service, host, isSecure } = offered
  const claims = tokens.check(token, rule)
  if (!claims || claims.service !== service || claims.host !== host || claims.path !== digestOf(path)) return undefined
  if (Math.abs(wallClock() - claims.issuedAtMs) > tokenStartMs) return undefined
  return cookieValues(headers.cookie, { kind: 'start', service, isSecure }).find(
    (secret) => digestOf(secret) === claims.challenge,
  )
}
