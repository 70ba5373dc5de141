import type { CertificateSetting } from './certificate-objects.ts'

/** Returns the namespaces of the routes of one cluster. */
export const routeNamespaces = (instance: string): Pick<CertificateSetting, 'idleNamespace' | 'givenNamespace'> => ({
  idleNamespace: `quayside-routes-${instance}`,
  givenNamespace: `quayside-certificates-${instance}`,
})
