import type { ClusterTls, Route } from '@quayside/contract/routes.ts'
import { printable } from '../../lib/text.ts'
import { certificatesOf } from '../platform-certificates.ts'
import type { RouteCertificate, RouterFinding } from '../router.ts'
import type { TlsSource } from '../tls-source.ts'

/** Why a host of routers without TLS has no certificate. A sentence without its end. */
export const withoutTls =
  "the platform's router in the cluster speaks HTTP; end TLS in front of it and set tls.controller_certificate of " +
  'the cluster, or use an ingress controller'

/**
 * Says which settings of a cluster for certificates have no effect on the platform's routers. Pure.
 */
export function tlsFindings(speaksTls: boolean, tls: ClusterTls | undefined): readonly RouterFinding[] {
  if (!tls || (tls.byController && tls.secret === null && tls.issuer === null)) return []
  const message = speaksTls
    ? "tls.secret_name and tls.cluster_issuer have no effect: the platform's router in the cluster has certificates " +
      'that the platform orders.'
    : `Names of ${tls.domain} have no certificates, because ${withoutTls}.`
  return [{ message, isBlocking: false }]
}

/** Says how names of the cluster's domain share one certificate, if the platform can prove that. */
export async function sharingFindings(
  certificates: Pick<TlsSource, 'sharing'> | undefined,
): Promise<readonly RouterFinding[]> {
  const sharing = await certificates?.sharing?.()
  if (!sharing) return []
  const { domain, record, isShared } = sharing
  const message = isShared
    ? `Names of ${domain} share one certificate, because of the record ${record}.`
    : `Names of ${domain} have a certificate each. With the record ${record} they share one.`
  return [{ message: printable(message), isBlocking: false }]
}

/**
 * Returns the certificates of these routes: the platform's, if the routers have them, and the
 * states of all others.
 */
export async function certificatesInPods(
  routes: readonly Route[],
  certificates: Pick<TlsSource, 'states'> | undefined,
): Promise<readonly RouteCertificate[]> {
  const others = routes.flatMap(({ service, host, tls }): RouteCertificate[] => {
    if (!tls || (certificates && tls.from === 'platform')) return []
    // The platform does not see what ends TLS in front of the routers.
    const isInFront = tls.from === 'controller'
    const failed = { state: 'FAILED', message: withoutTls } as const
    return [{ service, host, certificate: isInFront ? { state: 'READY', message: null } : failed }]
  })
  return certificates ? [...certificatesOf(routes, await certificates.states()), ...others] : others
}
