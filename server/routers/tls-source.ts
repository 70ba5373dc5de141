import type { HostCertificate, TlsCertificate, TlsMaterial } from '@quayside/contract/routes.ts'

/** How the names of a cluster's domain share one certificate. */
export interface Sharing {
  readonly domain: string
  /** The record that its owner makes in DNS. */
  readonly record: string
  readonly isShared: boolean
}

/** The certificates of the platform, for its own router. */
export interface TlsSource {
  /** Returns a text that differs if the material does. */
  mark(): Promise<string>
  /**
   * Returns all certificates for routers that start while the platform is away. Undefined while its
   * secrets are sealed.
   */
  kept?(): Promise<readonly TlsCertificate[] | undefined>
  /** Returns all certificates and open challenges. */
  material(): Promise<TlsMaterial>
  /** Returns the state of the certificate of each host that should have one. */
  states(): Promise<ReadonlyMap<string, HostCertificate>>
  /** Returns how names of the domain of a cluster share one. Undefined: they cannot. */
  sharing?(): Promise<Sharing | undefined>
}
