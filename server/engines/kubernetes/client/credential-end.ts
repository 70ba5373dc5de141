import { X509Certificate } from 'node:crypto'
import { parseForeign } from '../../../lib/foreign-json.ts'

/**
 * Returns which of a refused user's credentials has expired, and when. Undefined if the times do
 * not explain the refusal. Pure.
 */
export function endedCredential(
  { certificate, token }: { readonly certificate?: string | undefined; readonly token?: string | undefined },
  now: Date,
): string | undefined {
  const ends = [
    { what: 'its token', end: token === undefined ? undefined : endOfToken(token) },
    { what: 'its client certificate', end: certificate === undefined ? undefined : endOfCertificate(certificate) },
  ]
  const ended = ends.find(({ end }) => end !== undefined && end < now)
  return ended && `${ended.what} expired at ${ended.end?.toISOString()}`
}

function endOfCertificate(text: string): Date | undefined {
  try {
    return new X509Certificate(text).validToDate
  } catch {
    return undefined
  }
}

/** Tokens of service accounts are JWT. Others say nothing. */
function endOfToken(token: string): Date | undefined {
  try {
    const { exp } = Object(parseForeign(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url')))
    const end = new Date(typeof exp === 'number' ? exp * 1000 : Number.NaN)
    return Number.isNaN(end.getTime()) ? undefined : end
  } catch {
    return undefined
  }
}
