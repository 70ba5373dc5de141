import { X509Certificate } from 'node:crypto'

const mostCertificates = 10
const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----']

/**
 * Reads the certificates of a text. Other text between them is ignored, as openssl writes it.
 * Throws what `fail` makes of a fault.
 */
export function readChain(text: string, fail: (fault: string, cause?: unknown) => Error): readonly X509Certificate[] {
  const parts = text.split(begin, mostCertificates + 2).slice(1)
  if (parts.length > mostCertificates) throw fail(`has more than ${mostCertificates} certificates`)
  return parts.map((part, index) => {
    const length = part.indexOf(end)
    try {
      return new X509Certificate(`${begin}${part.slice(0, length < 0 ? 0 : length)}${end}\n`)
    } catch (cause) {
      throw fail(`has a certificate that cannot be read, number ${index + 1}`, cause)
    }
  })
}

/** Whether a certificate names a host. `*.example.org` must be named itself. */
export const covers = (certificate: X509Certificate, host: string): boolean =>
  host.startsWith('*.')
    ? namesOf(certificate).includes(host)
    : certificate.checkHost(host, { subject: 'never' }) !== undefined

/** Lists the host names of a certificate. */
export const namesOf = ({ subjectAltName = '' }: X509Certificate): readonly string[] =>
  subjectAltName
    .split(', ')
    .filter((name) => name.startsWith('DNS:'))
    .map((name) => name.slice('DNS:'.length).toLowerCase())
