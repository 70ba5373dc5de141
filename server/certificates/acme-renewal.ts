import { AuthorityKeyIdentifierExtension, X509Certificate } from '@peculiar/x509'
import type { RenewalWindow } from './authority.ts'

/**
 * Pure: returns the name of a certificate in questions about its renewal (RFC 9773, section 4.1).
 * Undefined if it does not name the key of its issuer.
 */
export function renewalName(chain: string): string | undefined {
  const certificate = new X509Certificate(chain)
  const issuer = certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId
  return issuer === undefined ? undefined : `${encoded(issuer)}.${encoded(asInteger(certificate.serialNumber))}`
}

/** The bytes of a positive number in DER begin with a zero if their first bit is set. */
const asInteger = (serial: string): string => (/^[89a-f]/i.test(serial) ? `00${serial}` : serial)

const encoded = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url')

const usualAskSeconds = 6 * 3600
const [shortestAskSeconds, longestAskSeconds] = [60, 24 * 3600]

/** Pure: reads an answer of an authority. Undefined if its window is not one. */
export function windowIn(body: unknown, retryAfterSeconds: number): RenewalWindow | undefined {
  const { start, end } = Object(Object(body).suggestedWindow)
  const [from, until] = [new Date(String(start)), new Date(String(end))]
  if (!(from.getTime() < until.getTime())) return undefined
  const asked = retryAfterSeconds || usualAskSeconds
  return {
    start: from,
    end: until,
    askAgainSeconds: Math.min(Math.max(asked, shortestAskSeconds), longestAskSeconds),
  }
}
