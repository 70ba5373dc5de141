import { createHash } from 'node:crypto'
import type { AcmeChallenge, HostCertificate, PlatformDoor, TlsCertificate } from '@quayside/contract/routes.ts'
import type { Database } from '../database/index.ts'
import type { SecuredPlace } from '../domains/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { Secret } from '../lib/secret.ts'
import type { Sharing, TlsSource } from '../routers/index.ts'
import type { Vault } from '../vault/index.ts'
import { hostIn } from './certificate-name.ts'
import {
  listCertificates,
  listHosts,
  listUploadedHosts,
  listUploads,
  readMark,
  type SealedCertificate,
} from './certificate-store.ts'
import { findDelegation } from './delegation-store.ts'
import { recordNames } from './dns-proof.ts'
import { isLost, listLostDomains } from './lost-domain-store.ts'
import { hostKeyCell, uploadedKeyCell } from './own-columns.ts'
import { isCertifiable } from './policy.ts'
import { stateOf, uploadedStateOf } from './state.ts'
import { createTicketKeys } from './ticket-keys.ts'

export interface TlsSourceOptions {
  readonly database: Database
  readonly vault: Pick<Vault, 'state' | 'open' | 'openOwn'>
  readonly clock: Clock
  readonly log: Logger
  /** The address of the authority's directory. */
  readonly directory: string
  /** The names of the platform itself. */
  readonly hosts: readonly string[]
  /** The domain of the platform, whose names share a wildcard. Undefined: DNS is not used. */
  readonly sharedDomain?: string | undefined
  /** The routers whose hosts are meant. */
  readonly at: SecuredPlace
  /** How the server recognizes its router. None by default. */
  readonly door?: PlatformDoor | undefined
}

/**
 * Creates the certificates of the table for the router. While the vault is sealed there are none,
 * and each host says so. A key that cannot be opened costs its own host the certificate.
 */
export function createTlsSource(options: TlsSourceOptions): TlsSource {
  const { database, vault, clock, directory, hosts, sharedDomain, door, at } = options
  const scope = { own: hosts, shared: sharedDomain ?? null, at }
  const doorMark = door === undefined ? '' : ` ${createHash('sha256').update(door.secret).digest('base64url')}`
  const ticketKey = createTicketKeys(clock)
  const sealed = { state: 'FAILED', message: 'the secrets of the platform are sealed' } as const
  const certificatesOf = async (rows: readonly SealedCertificate[]): Promise<readonly TlsCertificate[]> => {
    const ordered = rows.map(({ host, chain, sealed_key }) =>
      chain === null || sealed_key === null
        ? undefined
        : opened(options, { host: hostIn(host).host, chain }, () => vault.openOwn(hostKeyCell(host), sealed_key)),
    )
    const uploaded = (await listUploads(database, at)).map(
      ({ host, chain, organization_id, custom_domain_id, sealed_key }) =>
        opened(options, { host, chain }, () =>
          vault.open(database, organization_id, uploadedKeyCell(custom_domain_id), sealed_key),
        ),
    )
    return (await Promise.all([...ordered, ...uploaded])).filter((one) => one !== undefined)
  }
  return {
    mark: async () => `${await readMark(database, scope, clock.now())}${doorMark} ${ticketKey().mark}`,
    states: async () => {
      const now = clock.now()
      const ordered = (await listHosts(database, scope, now)).filter(({ name }) =>
        isCertifiable(hostIn(name).host, directory, sharedDomain !== undefined),
      )
      const uploaded = await listUploadedHosts(database, at)
      const { open } = vault.state
      const place = typeof at === 'object' ? at.cluster : null
      const isWaiting = place !== null && ordered.some(({ is_known }) => !is_known)
      const lost = isWaiting ? await listLostDomains(database, now, place) : []
      return new Map<string, HostCertificate>([
        ...ordered.map(({ host, name, is_known, ...facts }): [string, HostCertificate] => [
          host,
          open ? stateOf(is_known ? facts : undefined, now, isLost({ host: name, place }, lost)) : sealed,
        ]),
        ...uploaded.map(({ host, not_after }): [string, HostCertificate] => [
          host,
          open ? uploadedStateOf(not_after, now) : sealed,
        ]),
      ])
    },
    kept: async () =>
      vault.state.open ? certificatesOf(await listCertificates(database, scope, clock.now())) : undefined,
    material: async () => {
      const rows = await listCertificates(database, scope, clock.now())
      const challenges = rows.flatMap(challengeIn)
      const others = { challenges, ticketKey: ticketKey().key, ...(door && { door }) }
      if (!vault.state.open) return { certificates: [], ...others }
      return { certificates: await certificatesOf(rows), ...others }
    },
    ...(typeof at === 'object' && sharedDomain !== undefined && { sharing: sharingOf(database, at, sharedDomain) }),
  }
}

const sharingOf =
  (database: Database, { cluster }: { readonly cluster: string }, platformDomain: string) =>
  async (): Promise<Sharing | undefined> => {
    const found = await findDelegation(database, cluster)
    if (!found) return undefined
    const { own, target } = recordNames({ host: `*.${found.domain}`, cluster }, platformDomain)
    return { domain: found.domain, record: `${own} CNAME ${target}`, isShared: found.is_shared }
  }

const challengeIn = ({
  host,
  challenge_kind: kind,
  challenge_token: token,
  challenge_answer: answer,
}: SealedCertificate): AcmeChallenge[] =>
  token === null || answer === null || kind === 'dns-01' ? [] : [{ kind: kind ?? 'http-01', host, token, answer }]

/** Returns a certificate with its key. Undefined if that cannot be opened, which is logged. */
async function opened(
  { log }: Pick<TlsSourceOptions, 'log'>,
  { host, chain }: Pick<TlsCertificate, 'host' | 'chain'>,
  open: () => Promise<Secret>,
): Promise<TlsCertificate | undefined> {
  try {
    return { host, chain, key: (await open()).reveal() }
  } catch (error) {
    log.error({ host, reason: messageOf(error) }, 'private key of a certificate could not be opened')
    return undefined
  }
}
