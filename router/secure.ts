import type { ClientRequest } from './client-message.ts'
import { isSecureConnection, serverNameOf } from './connection-facts.ts'
import { hostOf } from './host-of.ts'
import type { Failure } from './pages.ts'
import type { RequestHead } from './request-head.ts'
import type { Target } from './target.ts'
import type { Traffic } from './traffic.ts'

/** A request, with its host name in the form of `hostOf` and its route. */
interface Asked {
  readonly head: RequestHead
  readonly host: string
  readonly target: Target | undefined
}

/**
 * Returns why a request must use another connection: its host has another certificate than the
 * connection, or its route requires HTTPS. Undefined if it need not.
 */
export function misdirection(
  traffic: Traffic,
  { socket, url = '/' }: ClientRequest,
  asked: Asked,
): Failure | undefined {
  const { certificates } = traffic
  const { head, host, target } = asked
  if (isSecureConnection(socket)) {
    const known = certificates.at(hostOf(serverNameOf(socket)) ?? '')
    if (known && certificates.at(host) === known) return undefined
    return { status: 421, message: `This connection is not one to ${host}. Open another connection for it.` }
  }
  if (head.isSecure || !target?.route.tls?.redirects) return undefined
  const location = httpsAddress(traffic, host, url)
  return location === undefined ? undefined : { status: 308, message: `${host} requires HTTPS.`, location }
}

/** Returns the same address with HTTPS. Undefined if the host has no certificate here. */
export function httpsAddress({ certificates, tlsPort }: Traffic, host: string, url: string): string | undefined {
  if (tlsPort === '' || !certificates.at(host)) return undefined
  return `https://${host}${tlsPort === '443' ? '' : `:${tlsPort}`}${url}`
}

const challengePath = '/.well-known/acme-challenge/'

/** Returns the answer to a request of a certificate authority. Undefined for other requests. */
export const challengeAnswer = ({ certificates }: Traffic, host: string, url = ''): string | undefined =>
  url.startsWith(challengePath) ? certificates.answerTo(host, url.slice(challengePath.length)) : undefined
