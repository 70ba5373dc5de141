/**
 * The login that a server demands with 401, from its header `WWW-Authenticate` (RFC 9110, 11.6.1).
 */
export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer'
      /** Where tokens are given, with the parameters that the server wants to see there. */
      readonly realm: URL
    }

/** Longer headers are cut. */
const mostCharacters = 4096

/**
 * Reads a challenge. Returns undefined for an unknown scheme, and for a realm that is not an
 * address.
 */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const text = (header ?? '').slice(0, mostCharacters)
  if (/^basic\b/i.test(text)) return { scheme: 'basic' }
  if (!/^bearer\b/i.test(text)) return undefined
  const pairs = [...text.matchAll(/(?<!\w)(\w{1,32})="([^"]*)"/g)]
  const fields = Object.fromEntries(pairs.map(([, key = '', value = '']) => [key.toLowerCase(), value]))
  const realm = URL.parse(fields['realm'] ?? '')
  if (!realm) return undefined
  for (const name of ['service', 'scope']) if (fields[name]) realm.searchParams.set(name, fields[name])
  return { scheme: 'bearer', realm }
}

/** How sure it is that an answer came from the server itself. */
export type Proof = 'certificate' | 'none'

/**
 * Whether a password for `server` may go to the realm that it named. A server that proved itself by its certificate decides who gives its
 * tokens: it could have asked for the password itself. Without that proof anybody on the way may have written the challenge, so only the same
 * host counts. A password never goes over plain http to another host.
 */
export function mayGetPassword(server: URL, realm: URL, proof: Proof): boolean {
  if (realm.username !== '' || realm.password !== '') return false
  if (realm.origin === server.origin) return true
  if (realm.protocol !== 'https:') return false
  return proof === 'certificate' && server.protocol === 'https:'
}

/** The header that carries a user name and password. */
export const basicAuthorization = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** The token of an answer of a realm; undefined where there is none that fits a header. */
export function tokenOf(answer: unknown): string | undefined {
  const { token, access_token } = Object(answer)
  const found: unknown = token ?? access_token
  return typeof found === 'string' && /^[\x21-\x7e]+$/.test(found) ? found : undefined
}
