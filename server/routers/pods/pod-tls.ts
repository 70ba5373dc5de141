import type { ClusterTls } from '@quayside/contract/routes.ts'
import type { RouterFinding } from '../router.ts'

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
