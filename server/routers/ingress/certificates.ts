import type { Route } from '@quayside/contract/routes.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  type CertificateSetting,
  type FoundCertificate,
  issuedHosts,
  issuerOf,
  secretOf,
} from './certificate-objects.ts'
import { findGivenPair, type GivenPair } from './given-pair.ts'
import { IssuedCertificates } from './issued-certificates.ts'
import { judgePair } from './judge-certificate.ts'
import type { KubeObjects } from './kube-objects.ts'
import { PairReader } from './pair-reader.ts'

export interface CertificatesOptions {
  readonly kube: KubeObjects
  readonly clock: Clock
  readonly setting: CertificateSetting
}

/** The certificates of the hosts of one cluster. */
export class Certificates {
  readonly #options: CertificatesOptions
  readonly #reader = new PairReader()
  readonly #issued: IssuedCertificates

  constructor(options: CertificatesOptions) {
    this.#options = options
    this.#issued = new IssuedCertificates({ ...options, reader: this.#reader })
  }

  /**
   * Orders the certificates that a table needs from cert-manager, and removes others. Returns the
   * certificate of each host with TLS. Throws what the API server answers if it cannot be asked.
   */
  async follow(routes: readonly Route[], signal: AbortSignal): Promise<ReadonlyMap<string, FoundCertificate>> {
    const { kube, setting, clock } = this.#options
    this.#reader.begin()
    const given = new Map<string, GivenPair>()
    for (const name of new Set(routes.flatMap(({ tls }) => secretOf(tls) ?? []))) {
      const place = { namespace: setting.givenNamespace, name }
      given.set(name, await findGivenPair({ kube, reader: this.#reader }, place, signal))
    }
    const issued = await this.#issued.follow(issuedHosts(routes), signal)
    const found = new Map<string, FoundCertificate>()
    for (const { host, tls } of routes) {
      if (!tls) continue
      const [secret, isIssued] = [secretOf(tls), issuerOf(tls) !== undefined]
      const pair = secret === undefined ? undefined : given.get(secret)
      const one = isIssued ? issued.get(host) : certificateFrom(pair, host, clock.now())
      if (one) found.set(host, one)
    }
    return found
  }
}

/** Without a Secret, the controller has the certificate. */
function certificateFrom(given: GivenPair | undefined, host: string, now: Date): FoundCertificate {
  if (!given) return { state: 'READY', message: null }
  if ('problem' in given) return { state: 'FAILED', message: given.problem }
  return { ...judgePair(given, host, now), pair: given }
}
