import type { HostCertificate, Route } from '@quayside/contract/routes.ts'
import type { RouteCertificate } from './router.ts'

/** Returns the states of the hosts of a table that have certificates of the platform. Pure. */
export const certificatesOf = (
  routes: readonly Route[],
  states: ReadonlyMap<string, HostCertificate>,
): readonly RouteCertificate[] =>
  routes.flatMap(({ service, host, tls }) => {
    const certificate = tls?.from === 'platform' ? states.get(host) : undefined
    return certificate ? [{ service, host, certificate }] : []
  })
