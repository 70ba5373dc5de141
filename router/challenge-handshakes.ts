import type { SecureContext, TLSSocket } from 'node:tls'
import { type Certificates, challengeProtocol } from './certificates.ts'
import { hostOf } from './host-of.ts'

/** The protocols of requests, the preferred one first. */
const spoken = ['h2', 'http/1.1']

interface Offer {
  readonly servername: string
  readonly protocols: readonly string[]
}

/** The callbacks of handshakes, as Node.js calls them: with the socket as `this`. */
export interface HandshakeCallbacks {
  ALPNCallback(this: unknown, offer: Offer): string | undefined
  SNICallback(this: unknown, name: string, done: (error: Error | null, context?: SecureContext) => void): void
}

/**
 * Creates the callbacks that choose the protocol and the certificate of a handshake. The question
 * of an authority gets the certificate of its challenge, and no other certificate. With TLS 1.3,
 * Node.js asks for the protocol first. With TLS 1.2 the certificate is already chosen then, so the
 * question is refused. Authorities speak TLS 1.3. A router that has just started knows no
 * certificate yet: handshakes wait for the first ones, within their time limit.
 */
export function handshakeCallbacks(certificates: Certificates): HandshakeCallbacks {
  const asked = new WeakMap<object, SecureContext>()
  const chosen = new WeakSet<object>()
  return {
    ALPNCallback(this: unknown, { servername, protocols }) {
      if (!protocols.includes(challengeProtocol)) return spoken.find((one) => protocols.includes(one))
      const context = protocols.length === 1 ? certificates.challengeContext(hostOf(servername) ?? '') : undefined
      const socket = Object(this)
      if (!context || chosen.has(socket)) return undefined
      asked.set(socket, context)
      return challengeProtocol
    },
    SNICallback(this: unknown, name, done) {
      const socket = Object(this)
      chosen.add(socket)
      const choose = () => done(null, asked.get(socket) ?? certificates.contextFor(name))
      if (certificates.first) certificates.first.then(choose, done)
      else choose()
    },
  }
}

/** Whether a connection only answers an authority. It must carry no requests. */
export const isChallenge = ({ alpnProtocol }: TLSSocket): boolean => alpnProtocol === challengeProtocol
