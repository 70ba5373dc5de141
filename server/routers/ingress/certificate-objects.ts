import type { HostCertificate, Route, RouteTls } from '@quayside/contract/routes.ts'
import { printable } from '../../lib/text.ts'
import { withoutFullStop } from '../../lib/without-full-stop.ts'
import { digest } from './digest.ts'
import { type TlsPair, tlsType } from './judge-certificate.ts'
import { certManagerGroup, type KubeObject, routeKinds, tlsKinds } from './kube-objects.ts'

/** The values on which the objects of certificates depend. */
export interface CertificateSetting {
  /** The namespace of Certificates and the Secrets that cert-manager fills for them. */
  readonly idleNamespace: string
  /** Labels of every object of the router. */
  readonly labels: Readonly<Record<string, string>>
  /** Labels of Secrets that cert-manager fills, and of no other object. */
  readonly issuedLabels: Readonly<Record<string, string>>
  /**
   * The namespace from which a Secret with a certificate may be copied. Administrators of the
   * cluster create it, and the platform changes nothing in it.
   */
  readonly givenNamespace: string
}

/** The certificate of a host, and the Secret that Ingresses of the host refer to. */
export interface FoundCertificate extends HostCertificate {
  /** The pair that Ingresses get, and a name for it. Absent for the controller's certificate. */
  readonly pair?: TlsPair & { readonly source: string }
}

/** Returns the hosts of a table with an issuer, each once. Pure. */
export function issuedHosts(routes: readonly Route[]): ReadonlyMap<string, string> {
  return new Map(
    routes.flatMap(({ host, tls }) => {
      const issuer = issuerOf(tls)
      return issuer === undefined ? [] : [[host, issuer]]
    }),
  )
}

export const issuerOf = (tls: RouteTls | undefined): string | undefined =>
  typeof tls?.from === 'object' && 'issuer' in tls.from ? tls.from.issuer : undefined
export const secretOf = (tls: RouteTls | undefined): string | undefined =>
  typeof tls?.from === 'object' && 'secret' in tls.from ? tls.from.secret : undefined

/** Returns the name of the Secret that cert-manager fills for a host. */
export const issuedSecretName = (host: string): string => `route-tls-${digest(host)}`

/** Returns the Certificate that cert-manager makes for a host. Pure. */
export function certificateOf(
  host: string,
  issuer: string,
  { idleNamespace: namespace, labels, issuedLabels }: CertificateSetting,
): KubeObject {
  const { apiVersion, kind } = tlsKinds.certificate
  const certificate = {
    apiVersion,
    kind,
    metadata: { name: `route-${digest(host)}`, namespace, labels },
    spec: {
      secretName: issuedSecretName(host),
      dnsNames: [host],
      issuerRef: { group: certManagerGroup, kind: 'ClusterIssuer', name: issuer },
      privateKey: { rotationPolicy: 'Always' },
      secretTemplate: { labels: issuedLabels },
    },
  }
  return certificate
}

/** A copy of a Secret, in the namespace of Ingresses that need it. Pure. */
export function copyOf(
  { data, source }: NonNullable<FoundCertificate['pair']>,
  metadata: Omit<KubeObject['metadata'], 'name'>,
): KubeObject {
  const { apiVersion, kind } = routeKinds.secret
  const name = `route-certificate-${digest(source)}`
  const secret = { apiVersion, kind, metadata: { ...metadata, name }, type: tlsType, data }
  return secret
}

/**
 * Returns why cert-manager has not made a certificate yet, from the conditions of a Certificate.
 * Pure.
 */
export function judgeConditions(certificate: KubeObject | undefined): HostCertificate {
  const conditions: unknown = Object(Object(certificate).status).conditions
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : []
  const find = (type: string) => list.map((one) => Object(one)).find((one) => one.type === type)
  const [issuing, ready] = [find('Issuing'), find('Ready')]
  if (issuing?.status === 'False' && issuing.reason === 'Failed') {
    return { state: 'FAILED', message: `cert-manager could not make it: ${said(issuing.message)}` }
  }
  const words = issuing?.message ?? ready?.message
  return {
    state: 'PENDING',
    message:
      words === undefined
        ? 'cert-manager has not begun to make it; look at the pods of cert-manager'
        : `cert-manager is making it: ${said(words)}`,
  }
}

/** A sentence of the cluster, on one line and without its end. */
export const said = (text: unknown): string =>
  withoutFullStop(printable(typeof text === 'string' ? text.slice(0, 500).replace(/\s+/g, ' ') : 'no reason was given'))
