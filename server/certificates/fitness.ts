import type { X509Certificate } from 'node:crypto'
import { maySign } from './key-usage.ts'

/** A certificate that clients refuse, and why. */
export interface Unfit {
  readonly certificate: X509Certificate
  readonly fault: string
}

/** The id of the extended key usage serverAuth (RFC 5280, 4.2.1.12). */
const serverAuth = '1.3.6.1.5.5.7.3.1'
const shortestRsaBits = 2048
/** Signatures that clients accept contain one of these, such as `ecdsa-with-SHA256`. */
const goodHashes = ['sha256', 'sha384', 'sha512', 'rsassapss']

/**
 * Returns the first fault for which clients refuse a chain that is in order. Undefined if none is
 * known. Pure.
 */
export function unfitness(chain: readonly X509Certificate[]): Unfit | undefined {
  for (const [index, certificate] of chain.entries()) {
    const fault = (index === 0 ? faultOfLeaf(certificate) : faultOfIssuer(certificate)) ?? faultOfSignature(certificate)
    if (fault !== undefined) return { certificate, fault }
  }
  return undefined
}

function faultOfLeaf(leaf: X509Certificate): string | undefined {
  if (leaf.keyUsage && !leaf.keyUsage.includes(serverAuth)) {
    return 'is not for servers. Have it issued with the extended key usage serverAuth'
  }
  if (!maySign(leaf.raw)) return 'does not allow its key to sign. Have it issued with the key usage digitalSignature'
  if (leaf.ca && !isSelfSigned(leaf)) {
    return 'is the certificate of an authority. Send the one that it issued for the domain first'
  }
  return undefined
}

function faultOfIssuer({ publicKey: { asymmetricKeyType: type, asymmetricKeyDetails: details } }: X509Certificate) {
  const isShort = type === 'rsa' && (details?.modulusLength ?? 0) < shortestRsaBits
  return isShort
    ? `has a key of less than ${shortestRsaBits} bits. Have the chain issued by a newer authority`
    : undefined
}

/** Clients do not check the signature of a root: they know it. */
function faultOfSignature(certificate: X509Certificate): string | undefined {
  const { signatureAlgorithm } = certificate
  if (isSelfSigned(certificate) || signatureAlgorithm === undefined) return undefined
  const name = signatureAlgorithm.toLowerCase()
  if (goodHashes.some((hash) => name.includes(hash))) return undefined
  return `is signed with ${signatureAlgorithm.slice(0, 50)}. Have it issued with SHA-256 or better`
}

const isSelfSigned = (certificate: X509Certificate): boolean => certificate.checkIssued(certificate)
