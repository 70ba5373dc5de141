import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { AppError, messageOf } from '../lib/error.ts'
import { unfitness } from './fitness.ts'
import { covers, namesOf, readChain } from './read-chain.ts'

/** A certificate and its private key as a user uploads them, in PEM format. */
export interface Upload {
  /** The certificate first, then the ones of its issuers in their order. */
  readonly chain: string
  readonly private_key: string
}

/** An upload without faults. */
export interface CheckedUpload {
  readonly chain: string
  /** The private key in PEM format (PKCS #8). */
  readonly key: string
  readonly issuer: string
  readonly fingerprint: string
  readonly not_before: Date
  readonly not_after: Date
}

/**
 * Checks that the router can serve a certificate for a host. Throws `invalid`, which names the
 * field and its fault.
 */
export function checkUpload({ chain, private_key }: Upload, host: string, now: Date): CheckedUpload {
  const certificates = readChain(chain, (fault, cause) => invalid('chain', fault, cause))
  const [leaf] = certificates
  if (!leaf) throw invalid('chain', 'has no certificate. Send "-----BEGIN CERTIFICATE-----" and its lines')
  const key = readKey(private_key)
  refuseOtherKeys(leaf.publicKey)
  if (!leaf.checkPrivateKey(key)) throw invalid('private_key', 'is not the key of the first certificate')
  if (!covers(leaf, host)) {
    throw invalid('chain', `is a certificate for ${namesOf(leaf).join(', ') || 'no host'}, not for ${host}`)
  }
  refuseDisorder(certificates)
  for (const one of certificates) refuseExpired(one, now)
  refuseUnfit(certificates)
  const pem = String(key.export({ type: 'pkcs8', format: 'pem' }))
  const text = certificates.map(String).join('')
  refuseUnusable(text, pem)
  return {
    chain: text,
    key: pem,
    issuer: commonName(leaf.issuer),
    fingerprint: leaf.fingerprint256,
    not_before: leaf.validFromDate,
    not_after: leaf.validToDate,
  }
}

function readKey(text: string): KeyObject {
  if (text.includes('ENCRYPTED')) throw invalid('private_key', 'has a passphrase. Send the key without it')
  try {
    return createPrivateKey(text)
  } catch (cause) {
    throw invalid('private_key', 'is not a private key in PEM format', cause)
  }
}

/** The router signs each handshake on its only thread. Longer keys would hold everybody up. */
const [shortestRsaBits, longestRsaBits] = [2048, 4096]

function refuseOtherKeys({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): void {
  const bits = details?.modulusLength ?? 0
  const isGood =
    (type === 'rsa' && bits >= shortestRsaBits && bits <= longestRsaBits) ||
    (type === 'ec' && (details?.namedCurve === 'prime256v1' || details?.namedCurve === 'secp384r1'))
  if (!isGood) throw invalid('chain', 'must have a key of RSA with 2048 to 4096 bits, of P-256 or of P-384')
}

/** Each certificate must be signed by the next one, which must be an authority. */
function refuseDisorder(certificates: readonly X509Certificate[]): void {
  for (const [index, issuer] of certificates.entries()) {
    const issued = certificates[index - 1]
    if (!issued) continue
    if (!issuer.ca || !issued.checkIssued(issuer) || !issued.verify(issuer.publicKey)) {
      throw invalid('chain', `is not in order: ${nameOf(issued)} was not issued by ${nameOf(issuer)}, which follows it`)
    }
  }
}

function refuseExpired(certificate: X509Certificate, now: Date): void {
  const { validFromDate, validToDate } = certificate
  if (validToDate <= now) {
    throw invalid('chain', `has an expired certificate: ${nameOf(certificate)} ended at ${validToDate.toISOString()}`)
  }
  if (validFromDate > now) {
    throw invalid('chain', `is not valid yet: ${nameOf(certificate)} begins at ${validFromDate.toISOString()}`)
  }
}

/** Clients refuse what is not made for servers, or not safely signed. */
function refuseUnfit(certificates: readonly X509Certificate[]): void {
  const found = unfitness(certificates)
  if (found) throw invalid('chain', `is refused by clients: ${nameOf(found.certificate)} ${found.fault}`)
}

/** Signatures of old kinds, for example, are refused by handshakes. */
function refuseUnusable(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw invalid('chain', `cannot be used for TLS: ${messageOf(cause)}`, cause)
  }
}

const nameOf = ({ subject }: X509Certificate): string => `"${commonName(subject)}"`

const longestName = 200

/** Returns the common name of a subject, or its whole name in one line. */
function commonName(subject: string | undefined): string {
  const lines = (subject ?? '').split('\n')
  const common = lines.find((line) => line.startsWith('CN='))?.slice('CN='.length)
  return (common ?? lines.join(', ')).slice(0, longestName)
}

const invalid = (field: string, fault: string, cause?: unknown): AppError =>
  new AppError('invalid', `${field}: ${field === 'chain' ? 'the chain' : 'the private key'} ${fault}.`, { cause })
