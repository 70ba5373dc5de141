import { X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { PlatformDoor, TlsCertificate } from '@quayside/contract/routes.ts'
import { hostOf } from './host-of.ts'
import { limits } from './limits.ts'
import { describe, type Log } from './log.ts'
import type { MarkedMaterial } from './tls-material.ts'

/** The protocol of a certificate authority that checks a host by a handshake (RFC 8737). */
export const challengeProtocol = 'acme-tls/1'

/** A certificate for a program that completes handshakes in front of the router. */
export interface ServedCertificate extends TlsCertificate {
  /** The only protocol that its handshakes agree on. Without it, the usual ones. */
  readonly protocol?: string
}

/**
 * The certificates of the control plane. They exist in memory only. A name that is not among them
 * costs nothing but its lookup.
 */
export class Certificates {
  readonly #log: Log
  readonly #mostReady: number
  #byHost: ReadonlyMap<string, TlsCertificate> = new Map()
  #served: readonly ServedCertificate[] = []
  #isAsked = false
  #mark: string | undefined
  readonly #first = Promise.withResolvers<void>()
  #door: PlatformDoor | undefined
  #answers: ReadonlyMap<string, string> = new Map()
  /** Certificates of challenges by handshake, by host. */
  #challenges: ReadonlyMap<string, TlsCertificate> = new Map()
  /** Prepared for handshakes, the least recently used one first. */
  readonly #ready = new Map<TlsCertificate, SecureContext>()

  constructor(log: Log, mostReady: number = limits.readyCertificates) {
    this.#log = log
    this.#mostReady = mostReady
  }

  /** The mark of the current certificates. Undefined before the first ones. */
  get mark(): string | undefined {
    return this.#mark
  }

  /** Settles with the first certificates. Undefined once they are there. */
  get first(): Promise<void> | undefined {
    return this.#mark === undefined ? this.#first.promise : undefined
  }

  /**
   * The current certificates, and those of challenges of hosts that have no valid one: such a
   * program chooses by the name alone. Another list after each exchange.
   */
  get served(): readonly ServedCertificate[] {
    return this.#served
  }

  /**
   * Whether an authority may ask by a handshake about a host that has a valid certificate. A
   * program that chooses by the name alone would send that one.
   */
  get isAsked(): boolean {
    return this.#isAsked
  }

  /** How the server recognizes this router. Undefined: it does not lead to the server. */
  get door(): PlatformDoor | undefined {
    return this.#door
  }

  /**
   * Assumes that these hosts have certificates, until the first ones arrive: an HAProxy that
   * another router has left serves them.
   */
  assume(hosts: readonly string[]): void {
    if (this.#mark === undefined) this.#byHost = new Map(hosts.map((host) => [host, { host, chain: '', key: '' }]))
  }

  /** Replaces all certificates and challenges. Established connections are unchanged. */
  replace({ mark, certificates, challenges, door }: MarkedMaterial): void {
    this.#mark = mark
    this.#door = door
    const next = certificates.map((one): [string, TlsCertificate] => {
      const known = this.#byHost.get(one.host)
      return [one.host, known && known.chain === one.chain && known.key === one.key ? known : one]
    })
    this.#byHost = new Map(next)
    const [asked, shaken] = [
      challenges.filter(({ kind }) => kind === 'http-01'),
      challenges.filter(({ kind }) => kind === 'tls-alpn-01'),
    ]
    this.#answers = new Map(asked.map(({ host, token, answer }) => [`${host} ${token}`, answer]))
    this.#challenges = new Map(shaken.map(({ host, answer }) => [host, { host, chain: answer, key: answer }]))
    const proving = [...this.#challenges.values()].filter(({ host }) => !isValid(this.at(host)))
    const hosts = new Set(proving.map(({ host }) => host))
    this.#isAsked = proving.length < this.#challenges.size
    this.#served = [
      ...[...this.#byHost.values()].filter(({ host }) => !hosts.has(host)),
      ...proving.map((one) => ({ ...one, protocol: challengeProtocol })),
    ]
    this.#first.resolve()
    for (const one of this.#ready.keys()) if (this.#byHost.get(one.host) !== one) this.#ready.delete(one)
  }

  /** Returns the certificate of a host in the form of `hostOf`. Undefined if it has none. */
  at(host: string): TlsCertificate | undefined {
    return this.#byHost.get(host) ?? this.#byHost.get(`*${host.slice(host.indexOf('.'))}`)
  }

  /**
   * Returns what a handshake for this server name uses. Undefined if the name has no certificate.
   */
  contextFor(serverName: string): SecureContext | undefined {
    const host = hostOf(serverName)
    const certificate = host === undefined ? undefined : this.at(host)
    return certificate && this.#prepare(certificate)
  }

  /**
   * Returns what the handshake of a certificate authority about a host uses. Undefined without such
   * a challenge for exactly this host.
   */
  challengeContext(host: string): SecureContext | undefined {
    const challenge = this.#challenges.get(host)
    return challenge && this.#create(challenge)
  }

  /** Returns the answer to a challenge of a certificate authority. Undefined if it is unknown. */
  answerTo(host: string, token: string): string | undefined {
    return this.#answers.get(`${host} ${token}`)
  }

  #prepare(certificate: TlsCertificate): SecureContext | undefined {
    const known = this.#ready.get(certificate)
    this.#ready.delete(certificate)
    const context = known ?? this.#create(certificate)
    if (!context) return undefined
    this.#ready.set(certificate, context)
    const [oldest] = this.#ready.keys()
    if (oldest && this.#ready.size > this.#mostReady) this.#ready.delete(oldest)
    return context
  }

  #create({ host, chain, key }: TlsCertificate): SecureContext | undefined {
    try {
      return createSecureContext({ cert: chain, key })
    } catch (error) {
      this.#log.error('certificate cannot be used', { host, error: describe(error) })
      return undefined
    }
  }
}

/** Whether a host has a certificate that has not expired. */
function isValid(certificate: TlsCertificate | undefined): boolean {
  if (!certificate) return false
  try {
    return new X509Certificate(certificate.chain).validToDate.getTime() > Date.now()
  } catch {
    // Nobody can use it, which `#create` logs at a handshake.
    return false
  }
}
