import type { AcmeChallenge, TlsCertificate } from '@quayside/contract/routes.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { TlsSource } from '../routers/index.ts'
import type { Vault } from '../vault/index.ts'
import { listCertificates, listHosts, readMark } from './certificate-store.ts'
import { hostKeyCell } from './own-columns.ts'
import { isCertifiable } from './policy.ts'
import { stateOf } from './state.ts'

export interface TlsSourceOptions {
  readonly database: Database
  readonly vault: Pick<Vault, 'state' | 'openOwn'>
  readonly clock: Clock
  readonly log: Logger
  /** The address of the authority's directory. */
  readonly directory: string
  /** The names of the platform itself. */
  readonly hosts: readonly string[]
}

/**
 * Creates the certificates of the table for the router. While the vault is sealed there are none,
 * and each host says so. A key that cannot be opened costs its own host the certificate.
 */
export function createTlsSource({ database, vault, clock, log, directory, hosts: own }: TlsSourceOptions): TlsSource {
  return {
    mark: () => readMark(database, own),
    states: async () => {
      const now = clock.now()
      const hosts = (await listHosts(database, own)).filter(({ host }) => isCertifiable(host, directory))
      return new Map(
        hosts.map(({ host, is_known, ...facts }) => [
          host,
          vault.state.open
            ? stateOf(is_known ? facts : undefined, now)
            : { state: 'FAILED', message: 'the secrets of the platform are sealed' },
        ]),
      )
    },
    material: async () => {
      const certificates: TlsCertificate[] = []
      const challenges: AcmeChallenge[] = []
      for (const { host, chain, sealed_key, challenge_token, challenge_answer } of await listCertificates(
        database,
        own,
      )) {
        if (challenge_token !== null && challenge_answer !== null) {
          challenges.push({ host, token: challenge_token, answer: challenge_answer })
        }
        if (chain === null || sealed_key === null || !vault.state.open) continue
        try {
          const key = await vault.openOwn(hostKeyCell(host), sealed_key)
          certificates.push({ host, chain, key: key.reveal() })
        } catch (error) {
          log.error({ host, reason: messageOf(error) }, 'private key of a certificate could not be opened')
        }
      }
      return { certificates, challenges }
    },
  }
}
