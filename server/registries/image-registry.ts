import { type Challenge, mayGetPassword, parseChallenge, tokenOf } from '../lib/challenge.ts'
import { AppError } from '../lib/error.ts'
import { type Ask, parseJson, type Question } from '../lib/outside.ts'
import type { SafeResponse } from '../lib/safe-fetch.ts'
import { withoutEnds } from '../lib/trim.ts'
import { basic, type Login, loginOf, type Opened } from './login.ts'

/** The address of a registry's API, and the prefix of its image names. */
interface Place {
  readonly origin: string
  readonly prefix: string
  readonly login: Login | undefined
  readonly anyCertificate: boolean
}

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const mebibyte = 1024 * 1024
const hubHosts = ['docker.io', 'index.docker.io', 'hub.docker.com', 'registry-1.docker.io']
const part = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const imageName = new RegExp(`^${part}(?:/${part})*$`)

export interface Reference {
  readonly name: string
  readonly signal: AbortSignal
}

/**
 * Queries registries by the Docker Registry HTTP API v2, with a token from the registry's token
 * server or with a password.
 */
export function createImageRegistry(ask: Ask) {
  /**
   * Sends a request, and again with the authentication that the registry requires. The caller
   * handles other statuses than 200.
   */
  async function request(place: Place, path: string, wanted: Question): Promise<SafeResponse> {
    const question = { ...wanted, anyCertificate: place.anyCertificate }
    const url = new URL(`${place.origin}/v2/${path}`)
    const first = await ask(url, question)
    // The target of a redirect must not decide which host gets a password.
    if (first.status !== 401 || first.from.origin !== url.origin) return first
    const challenge = parseChallenge(first.headers['www-authenticate'])
    const authorization = challenge && (await authorize(place, url, challenge, question.signal))
    if (!authorization) return first
    return ask(url, { ...question, headers: { ...question.headers, authorization } })
  }

  async function authorize(
    { login, anyCertificate }: Place,
    url: URL,
    challenge: Challenge,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (challenge.scheme === 'basic') return login && basic(login)
    const { realm } = challenge
    const isSame = realm.origin === url.origin
    if (login && !mayGetPassword(url, realm, anyCertificate || url.protocol === 'http:' ? 'none' : 'certificate')) {
      throw new AppError('invalid', `${url.host} requests the password for ${realm.host}, which must not receive it.`)
    }
    const headers = login ? { authorization: basic(login) } : {}
    const answer = await ask(realm, { headers, maxBytes: mebibyte, signal, anyCertificate: anyCertificate && isSame })
    if (answer.status !== 200) throw refused(url, answer.status)
    const token = tokenOf(parseJson(realm, answer))
    if (token) return `Bearer ${token}`
    throw new AppError('invalid', `${realm.host} answered without a token for ${url.host}.`)
  }

  return {
    /** Lists at most 1,000 tags of an image, in the registry's order. */
    async tags(registry: Opened, { name, signal }: Reference): Promise<string[]> {
      const place = placeOf(registry)
      const path = `${pathOf(place, name)}/tags/list?n=1000`
      const answer = await request(place, path, { maxBytes: 4 * mebibyte, signal })
      if (answer.status === 404) return []
      return textsOf(place, answer, 'tags')
    },

    /**
     * Lists at most 100 image names that contain this text. Docker Hub is queried through its
     * search.
     */
    async search(registry: Opened, text: string, signal: AbortSignal): Promise<string[]> {
      const place = placeOf(registry)
      if (isHub(place)) return searchHub(ask, text, signal)
      const answer = await request(place, '_catalog?n=1000', { maxBytes: 4 * mebibyte, signal })
      const names = await textsOf(place, answer, 'repositories')
      const own = names.flatMap((name) => (name.startsWith(place.prefix) ? [name.slice(place.prefix.length)] : []))
      return own.filter((name) => name.includes(text)).slice(0, 100)
    },

    /**
     * Returns the digest of a tag. Throws AppError `invalid` if the image or tag does not exist or
     * is not readable.
     */
    async digest(registry: Opened, reference: Reference & { readonly tag: string }): Promise<string | undefined> {
      const { name, tag, signal } = reference
      if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(tag)) throw new AppError('invalid', 'tag is malformed.')
      const place = placeOf(registry)
      const path = `${pathOf(place, name)}/manifests/${tag}`
      const headers = { accept: manifestTypes }
      const answer = await request(place, path, { method: 'HEAD', headers, maxBytes: mebibyte, signal })
      if (answer.status === 404) throw new AppError('invalid', `The registry "${registry.name}" has no ${name}:${tag}.`)
      if (answer.status !== 200) throw refused(new URL(place.origin), answer.status)
      return answer.headers['docker-content-digest']
    },

    /** Returns a manifest as JSON, of one of these media types. */
    async manifest(registry: Opened, reference: Reference & { readonly tag: string; readonly accept: string }) {
      const { name, tag, accept, signal } = reference
      const place = placeOf(registry)
      const path = `${pathOf(place, name)}/manifests/${encodeURIComponent(tag)}`
      const answer = await request(place, path, { headers: { accept }, maxBytes: 4 * mebibyte, signal })
      if (answer.status === 404) throw new AppError('invalid', `The registry "${registry.name}" has no ${name}:${tag}.`)
      if (answer.status !== 200) throw refused(new URL(place.origin), answer.status)
      return parseJson(new URL(place.origin), answer)
    },

    /** Returns the bytes of a layer. Registries redirect to their storage. */
    async blob(registry: Opened, reference: Reference & { readonly digest: string; readonly maxBytes: number }) {
      const { name, digest, maxBytes, signal } = reference
      if (!/^sha256:[0-9a-f]{64}$/.test(digest))
        throw new AppError('invalid', 'The registry names a layer without a digest.')
      const place = placeOf(registry)
      const answer = await request(place, `${pathOf(place, name)}/blobs/${digest}`, { maxBytes, signal, follows: true })
      if (answer.status !== 200) throw refused(new URL(place.origin), answer.status)
      return answer.body
    },
  }
}
export type ImageRegistry = ReturnType<typeof createImageRegistry>

const isHub = ({ origin }: Place): boolean => origin === 'https://registry-1.docker.io'

/** The path of the address is the prefix of the names. Docker Hub's own images are in `library`. */
function placeOf(registry: Opened): Place {
  const url = new URL(registry.url.replace(/^oci:/, 'https:'))
  const access = { login: loginOf(registry), anyCertificate: registry.skip_tls_verification === true }
  if (hubHosts.includes(url.hostname)) {
    return {
      origin: 'https://registry-1.docker.io',
      prefix: prefixOf(url.pathname.replace(/^\/v[12]\b/, '')),
      ...access,
    }
  }
  return { origin: url.origin, prefix: prefixOf(url.pathname), ...access }
}

function prefixOf(pathname: string): string {
  const path = withoutEnds(pathname, '/')
  return path === '' ? '' : `${path}/`
}

function pathOf(place: Place, name: string): string {
  const whole = `${place.prefix}${name}`
  if (whole.length > 255 || !imageName.test(whole)) {
    throw new AppError(
      'invalid',
      'The name of the image must be lower-case letters and digits, with "/", ".", "_" or "-" between.',
    )
  }
  return isHub(place) && !whole.includes('/') ? `library/${whole}` : whole
}

function textsOf(place: Place, answer: SafeResponse, field: string): string[] {
  const url = new URL(place.origin)
  if (answer.status !== 200) throw refused(url, answer.status)
  const found: unknown = Object(parseJson(url, answer))[field]
  return Array.isArray(found) ? found.filter((one) => typeof one === 'string').slice(0, 1000) : []
}

async function searchHub(ask: Ask, text: string, signal: AbortSignal): Promise<string[]> {
  const url = new URL('https://hub.docker.com/v2/search/repositories/?page_size=100')
  url.searchParams.set('query', text)
  const answer = await ask(url, { maxBytes: 4 * mebibyte, signal })
  if (answer.status !== 200) throw refused(url, answer.status)
  const found: unknown = Object(parseJson(url, answer)).results
  const names = Array.isArray(found) ? found.map((one): unknown => Object(one).repo_name) : []
  return names.filter((name) => typeof name === 'string')
}

/** Returns the error for an unexpected status. */
export function refused({ host }: URL, status: number): AppError {
  if (status === 401 || status === 403) {
    return new AppError(
      'invalid',
      `${host} denied access: check the user name and password of the registry, and the name.`,
    )
  }
  if (status === 429)
    return new AppError('invalid', `${host} limits the number of requests. Try again later, or set a user name.`)
  return new AppError('invalid', `${host} answered with status ${status}, where 200 was expected.`)
}
