import type { Reconciler } from '../lib/reconciler.ts'
import type { TlsSource } from '../routers/index.ts'
import type { Authority } from './authority.ts'
import { createDnsProof } from './dns-proof.ts'
import { type DnsSettings, recordsBy } from './dns-settings.ts'
import type { LocalAuthorityOptions } from './local.ts'
import { isCertifiable, localAuthority } from './policy.ts'
import { type CertificateOptions, createCertificateReconciler } from './reconciler.ts'
import { createTlsSource, type TlsSourceOptions } from './source.ts'

export interface CertificatesOptions
  extends Omit<CertificateOptions, 'directory' | 'authority' | 'serve' | 'dns'>,
    Pick<TlsSourceOptions, 'door'>,
    Pick<LocalAuthorityOptions, 'publishRoot'> {
  /** The authority and how it reaches the operator. Undefined: the router speaks HTTP only. */
  readonly settings: CertificateSettings | undefined
}

/** The authority, how it reaches the operator, and how wildcards prove themselves in DNS. */
export interface CertificateSettings {
  readonly directory: string
  readonly email?: string
  readonly dns?: DnsSettings
}

/** The certificates of an installation. */
export interface Certificates {
  /** Undefined: the router speaks HTTP only. */
  readonly source: TlsSource | undefined
  /** Whether a certificate can be made for a host. */
  certifies(host: string): boolean
  /** Creates what orders certificates. Empty if the router speaks HTTP only. */
  reconcilers(serve: CertificateOptions['serve']): readonly Reconciler[]
}

/** Creates the certificates of the platform's own router. Nothing is ordered before it runs. */
export function createCertificates({ settings, ...options }: CertificatesOptions): Certificates {
  if (!settings) return { source: undefined, certifies: () => false, reconcilers: () => [] }
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
    source: createTlsSource({ ...options, directory, sharedDomain: dns?.domain }),
    reconcilers: (serve) => [createCertificateReconciler({ ...options, directory, authority, serve, dns })],
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
