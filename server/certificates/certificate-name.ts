/**
 * The name of a certificate in the database: its host, or the wildcard of a cluster's domain with
 * the id of the cluster after a slash. Several clusters may name one domain, and each of them has a
 * certificate of its own.
 */
export type CertificateName = string

/** The host of a certificate, and the cluster of which it is the wildcard, if any. */
export interface NamedHost {
  readonly host: string
  readonly cluster: string | undefined
}

/** Reads the name of a certificate. Pure. */
export function hostIn(name: CertificateName): NamedHost {
  const [host = name, cluster] = name.split('/', 2)
  return { host, cluster }
}
