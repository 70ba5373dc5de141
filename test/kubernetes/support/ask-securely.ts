import { request } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { addresses, ports } from '../cluster/settings.ts'

export interface SecureAnswer {
  readonly status: number
  readonly body: string
  /** The fingerprint of the certificate. */
  readonly fingerprint: string
}

/**
 * Sends a request by HTTPS to the ingress controller of the test cluster, with the name of the host
 * in the handshake. Rejects unless one of these authorities has signed the certificate for it.
 */
export function askSecurely(host: string, ca: string): Promise<SecureAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<SecureAnswer>()
  const sent = request(
    {
      host: addresses.node,
      port: ports.secureIngress,
      servername: host,
      headers: { host },
      ca,
      agent: false,
      signal: AbortSignal.timeout(20_000),
    },
    (response) => {
      let body = ''
      // The response of a request by HTTPS.
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate()
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        body += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, fingerprint: fingerprint256 }))
      response.on('error', reject)
    },
  )
  sent.on('error', reject)
  sent.end()
  return promise
}
