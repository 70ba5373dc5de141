import type { Reconciler } from '../lib/reconciler.ts'
import type { TlsSource } from '../routers/index.ts'
import type { Authority } from './authority.ts'
import { createDelegationReconciler } from './delegations.ts'
import { createDnsProof } from './dns-proof.ts'
import { type DnsSettings, recordsBy } from './dns-settings.ts'
import type { LocalAuthorityOptions } from './local.ts'
import { isCertifiable, localAuthority } from './policy.ts'
import { type CertificateOptions, createCertificateReconciler } from './reconciler.ts'
import { createTlsSource, type TlsSourceOptions } from './source.ts'

export interface CertificatesOptions
  extends Omit<CertificateOptions, 'directory' | 'authority' | 'serve' | 'dns' | 'at'>,
    Pick<TlsSourceOptions, 'door'>,
    Pick<LocalAuthorityOptions, 'publishRoot'> {
  /** The authority and how it reaches the operator. Undefined: no router speaks TLS. */
  readonly settings: CertificateSettings | undefined
  /**
   * Whether the router of this machine speaks TLS, and the routers of clusters. Only the first by
   * default.
   */
  readonly speaking?: { readonly machine: boolean; readonly clusters: boolean }
}

/** The authority, how it reaches the operator, and how wildcards prove themselves in DNS. */
export interface CertificateSettings {
  readonly directory: string
  readonly email?: string
  readonly dns?: DnsSettings
}

/** The certificates of an installation. */
export interface Certificates {
  /** Undefined: the router of this machine speaks HTTP only. */
  readonly source: TlsSource | undefined
  /** Returns the certificates of one cluster. Undefined: its routers speak HTTP only. */
  sourceOf(clusterId: string): TlsSource | undefined
  /** Whether a certificate can be made for a host. */
  certifies(host: string): boolean
  /** Creates what orders certificates. Empty if no router speaks TLS. */
  reconcilers(serve: CertificateOptions['serve']): readonly Reconciler[]
}

const onMachine = { machine: true, clusters: false }

/**
 * Creates the certificates of the platform's own routers. Nothing is ordered before they run. The
 * people of a cluster can read what its routers have: those get the certificates of their own hosts
 * alone, another key of tickets, and no secret of the platform.
 */
export function createCertificates({ settings, speaking = onMachine, ...options }: CertificatesOptions): Certificates {
  if (!settings) {
    return { source: undefined, sourceOf: () => undefined, certifies: () => false, reconcilers: () => [] }
  }
  const { directory } = settings
  const dns =
    settings.dns && createDnsProof({ ...settings.dns, records: recordsBy(settings.dns.by), clock: options.clock })
  let loaded: Promise<Authority> | undefined
  const authority = (): Promise<Authority> => {
    loaded ??= load(settings, options)
    return loaded
  }
  return {
    certifies: (host) => isCertifiable(host, directory, dns !== undefined),
    source: speaking.machine
      ? createTlsSource({ ...options, directory, sharedDomain: dns?.domain, at: 'machine' })
      : undefined,
    sourceOf: (cluster) =>
      speaking.clusters
        ? createTlsSource({
            ...{ ...options, directory, sharedDomain: dns?.domain },
            ...{ hosts: [], door: undefined, at: { cluster } },
          })
        : undefined,
    reconcilers: (serve) => {
      const shared = { ...options, directory, authority, serve, dns }
      return [
        ...(speaking.machine ? [createCertificateReconciler({ ...shared, at: 'machine' })] : []),
        ...(speaking.clusters ? [createCertificateReconciler({ ...shared, at: 'clusters' })] : []),
        ...(speaking.clusters && dns ? [createDelegationReconciler({ ...options, dns })] : []),
      ]
    },
  }
}

/** The libraries need some megabytes, which only a server that orders certificates should use. */
async function load(
  settings: NonNullable<CertificatesOptions['settings']>,
  options: LocalAuthorityOptions,
): Promise<Authority> {
  if (settings.directory === localAuthority) {
    const { createLocalAuthority } = await import('./local.ts')
    return createLocalAuthority(options)
  }
  const { createAcmeAuthority } = await import('./acme.ts')
  return createAcmeAuthority(settings)
}
