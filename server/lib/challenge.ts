/** The login that a server demands with 401 in its header `WWW-Authenticate` (RFC 9110, 11.6.1). */
export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer'
      /** The address that issues tokens, with the parameters that the server requires. */
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

/** How certain it is that a response came from the server itself. */
export type Proof = 'certificate' | 'none'

/**
 * Whether a password for `server` may be sent to the realm that it named. A server that proved
 * itself by its certificate may choose who issues its tokens: it could have asked for the password
 * itself. Without that proof anybody in between may have written the challenge, so the realm must
 * be on the same host. A password never goes to another host over plain http.
 */
export function mayGetPassword(server: URL, realm: URL, proof: Proof): boolean {
  if (realm.username !== '' || realm.password !== '') return false
  if (realm.origin === server.origin) return true
  if (realm.protocol !== 'https:') return false
  return proof === 'certificate' && server.protocol === 'https:'
}

/** Returns the header that carries a user name and password. */
export const basicAuthorization = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** Returns the token in a realm's response; undefined if none fits a header. */
export function tokenOf(answer: unknown): string | undefined {
  const { token, access_token } = Object(answer)
  const found: unknown = token ?? access_token
  return typeof found === 'string' && /^[\x21-\x7e]+$/.test(found) ? found : undefined
}
