import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { HostCertificate } from '@quayside/contract/routes.ts'
import type { KubeObject } from './kube-objects.ts'

/** The parts of a Secret of the type `kubernetes.io/tls`, in base64 as Kubernetes has them. */
export interface TlsData {
  readonly 'tls.crt': string
  readonly 'tls.key': string
}

/** A certificate with its key, as it was read from a Secret. */
export interface TlsPair {
  readonly data: TlsData
  readonly certificate: X509Certificate
}

/** Reading a longer one would keep the server from other work. The cluster belongs to somebody. */
const longestPart = 65_536

export const tlsType = 'kubernetes.io/tls'

/** Reads a Secret with a certificate. Returns why it cannot be used otherwise. Pure. */
export function readPair(secret: KubeObject): TlsPair | { readonly problem: string } {
  const { type, data } = Object(secret)
  if (type !== tlsType) return { problem: `it has the type ${nameOf(type)} and not ${tlsType}` }
  const [crt, key] = [Object(data)['tls.crt'], Object(data)['tls.key']]
  if (typeof crt !== 'string' || typeof key !== 'string' || crt === '' || key === '') {
    return { problem: 'it has no tls.crt or no tls.key' }
  }
  if (crt.length > longestPart || key.length > longestPart) {
    return { problem: `its certificate or its key is longer than ${longestPart} characters` }
  }
  try {
    const certificate = new X509Certificate(Buffer.from(crt, 'base64'))
    if (!certificate.checkPrivateKey(createPrivateKey(Buffer.from(key, 'base64')))) {
      return { problem: 'its key is not that of its certificate' }
    }
    return { data: { 'tls.crt': crt, 'tls.key': key }, certificate }
  } catch {
    // The error may have a part of the key.
    return { problem: 'its certificate or its key cannot be read' }
  }
}

const nameOf = (type: unknown): string => (typeof type === 'string' ? type.slice(0, 100) : 'Opaque')

/** Returns the state of a certificate for a host, which may begin with `*.`. Pure. */
export function judgePair({ certificate }: TlsPair, host: string, now: Date): HostCertificate {
  if (!covers(certificate, host)) {
    return { state: 'FAILED', message: `the certificate is not valid for ${host}` }
  }
  const { validTo } = certificate
  return Date.parse(validTo) > now.getTime()
    ? { state: 'READY', message: null }
    : { state: 'EXPIRED', message: `the certificate expired on ${new Date(validTo).toISOString()}` }
}

/** A wildcard stands for one label. */
function covers(certificate: X509Certificate, host: string): boolean {
  return host.startsWith('*.')
    ? (certificate.subjectAltName ?? '').split(', ').includes(`DNS:${host}`)
    : certificate.checkHost(host, { subject: 'never' }) !== undefined
}
