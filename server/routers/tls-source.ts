import type { HostCertificate, TlsMaterial } from '@quayside/contract/routes.ts'

/** The certificates of the platform, for its own router. */
export interface TlsSource {
  /** Returns a text that differs if the material does. */
  mark(): Promise<string>
  /** Returns all certificates and open challenges. */
  material(): Promise<TlsMaterial>
  /** Returns the state of the certificate of each host that should have one. */
  states(): Promise<ReadonlyMap<string, HostCertificate>>
}
