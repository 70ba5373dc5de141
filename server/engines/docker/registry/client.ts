import { basicAuthorization, type Challenge, mayGetPassword, parseChallenge, tokenOf } from '../../../lib/challenge.ts'
import type { Clock } from '../../../lib/clock.ts'
import { parseForeign } from '../../../lib/foreign-json.ts'
import type { OpenStream, SafeStream } from '../../../lib/safe-stream.ts'
import { withoutEnd } from '../../../lib/trim.ts'
import type { RegistryLogin } from '../../engine.ts'
import { kindOfStatus, RegistryProblem } from '../registry-problem.ts'
import { readWhole, saidIn } from './answers.ts'
import { authoritiesOf, type Place } from './places.ts'
import { translated } from './translated.ts'

/** A registry that is silent for this long counts as away. */
export const silenceMs = 90_000
const mostRedirects = 5
const tokenBytes = 1024 * 1024

export interface ClientOptions {
  readonly open: OpenStream
  readonly clock: Clock
  readonly place: Place
  /** Path of the image inside its registry, such as `library/nginx`. */
  readonly repository: string
  readonly login: RegistryLogin | undefined
}

export interface RegistryQuestion {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Below the repository: `manifests/…`, `blobs/…`. */
  readonly path: string
  /** The address that the registry gave for the rest of an upload; used instead of the path. */
  readonly location?: string
  readonly body?: Buffer
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * Asks one registry for one image (OCI Distribution 1.1). Sends passwords to the registry itself,
 * and to a realm that `mayGetPassword` allows. A redirect's target gets only the request.
 */
export class RegistryClient {
  readonly #options: ClientOptions
  #origin: URL
  /** The scheme by which it has answered. */
  #isSettled = false
  #authorization: string | undefined
  #authorities: Promise<string[] | undefined> | undefined

  constructor(options: ClientOptions) {
    this.#options = options
    this.#origin = options.place.origin
  }

  /**
   * Returns the registry's own answer, whatever its status; dispose of it. Throws RegistryProblem.
   */
  async send(question: RegistryQuestion): Promise<SafeStream> {
    const answer = await this.#askOnce(question)
    if (answer.status !== 401) return answer
    const challenge = parseChallenge(answer.headers['www-authenticate'])
    const authorization = challenge && (await this.#authorize(challenge, question.signal))
    if (authorization === undefined) return answer
    await answer[Symbol.asyncDispose]()
    this.#authorization = authorization
    return this.#askOnce(question)
  }

  /**
   * Returns the answer with status 200 or 206, after redirects; dispose of it. Throws
   * RegistryProblem.
   */
  async ask(question: RegistryQuestion): Promise<SafeStream> {
    const found = await this.#follow(await this.send(question), question)
    if (found.status === 200 || found.status === 206) return found
    const said = await saidIn(found)
    await found[Symbol.asyncDispose]()
    throw new RegistryProblem(kindOfStatus(found.status), said)
  }

  /** Asks a registry without TLS if it has none and the operator allowed that. */
  async #askOnce(question: RegistryQuestion): Promise<SafeStream> {
    const authorization = this.#authorization
    const headers = { ...question.headers, ...(authorization !== undefined && { authorization }) }
    const send = async (): Promise<SafeStream> => {
      const answer = await this.#open(this.#urlOf(question), { ...question, headers })
      this.#isSettled = true
      return answer
    }
    try {
      return await send()
    } catch (error) {
      if (this.#isSettled || !this.#options.place.isInsecure || !(error instanceof RegistryProblem)) throw error
      this.#origin = new URL(`http://${this.#origin.host}`)
      return await send().catch(() => {
        this.#origin = this.#options.place.origin
        throw error
      })
    }
  }

  /** An upload stays at the registry: another host would receive the image and the password. */
  #urlOf({ path, location }: RegistryQuestion): URL {
    const { place, repository } = this.#options
    const base = withoutEnd(place.origin.pathname, '/')
    const usual = new URL(`${this.#origin.origin}${base}/v2/${repository}/${path}`)
    if (location === undefined) return usual
    const { host, pathname, search } = URL.parse(location, usual.href) ?? usual
    if (host !== usual.host) throw new RegistryProblem('other', `it redirects uploads to ${host.slice(0, 100)}`)
    return new URL(`${usual.origin}${pathname}${search}`)
  }

  async #follow(first: SafeStream, question: RegistryQuestion): Promise<SafeStream> {
    let answer = first
    let url = this.#urlOf(question)
    for (let hop = 0; answer.status >= 300 && answer.status < 400; hop++) {
      const { location } = answer.headers
      await answer[Symbol.asyncDispose]()
      const next = location === undefined ? undefined : URL.parse(location, url.href)
      if (!next) throw new RegistryProblem('other', `it redirects without an address (status ${answer.status})`)
      if (hop === mostRedirects) throw new RegistryProblem('other', `it redirects more than ${mostRedirects} times`)
      url = next
      answer = await this.#open(url, question)
    }
    return answer
  }

  /**
   * Returns the header that the registry demands; undefined if there are no credentials to send.
   */
  async #authorize(challenge: Challenge, signal: AbortSignal): Promise<string | undefined> {
    const { place, login } = this.#options
    const given = place.isOperators ? undefined : login
    if (challenge.scheme === 'basic') {
      return given && basicAuthorization(given.username, given.password.reveal())
    }
    const { realm } = challenge
    const proof = place.isInsecure || this.#origin.protocol === 'http:' ? 'none' : 'certificate'
    if (given && !mayGetPassword(this.#origin, realm, proof)) {
      throw new RegistryProblem('denied', `it asks for the password at ${realm.host}, which must not receive it`)
    }
    const headers = given ? { authorization: basicAuthorization(given.username, given.password.reveal()) } : {}
    await using answer = await this.#open(realm, { path: '', headers, signal })
    if (answer.status !== 200) throw new RegistryProblem(kindOfStatus(answer.status), await saidIn(answer))
    const token = tokenOf(jsonOf(await readWhole(answer, tokenBytes)))
    if (token === undefined) throw new RegistryProblem('other', `${realm.host} answered without a token`)
    return `Bearer ${token}`
  }

  /**
   * Sends one request. Only requests to the registry itself have the rights that the operator gave
   * it.
   */
  async #open(url: URL, { method, headers, body, signal }: RegistryQuestion): Promise<SafeStream> {
    const { place, open, clock } = this.#options
    const isOwn = url.origin === this.#origin.origin
    const authorities = isOwn ? await this.#readAuthorities() : undefined
    const [late, begun] = [new AbortController(), new AbortController()]
    clock.sleep(silenceMs, begun.signal).then(
      () => late.abort(),
      () => {},
    )
    try {
      return await open(url, {
        method: method ?? 'GET',
        ...(body && { body }),
        headers: { ...headers, 'user-agent': 'quayside' },
        headersTimeoutMs: silenceMs,
        bodyTimeoutMs: silenceMs,
        signal: AbortSignal.any([signal, late.signal]),
        isOperators: isOwn && place.isOperators,
        anyCertificate: isOwn && place.isInsecure,
        allowHttp: isOwn && place.isInsecure,
        ...(authorities && { authorities }),
      })
    } catch (error) {
      signal.throwIfAborted()
      if (late.signal.aborted) throw new RegistryProblem('away', `it sent nothing for ${silenceMs / 1000} s`)
      throw translated(error)
    } finally {
      begun.abort()
    }
  }

  #readAuthorities(): Promise<string[] | undefined> {
    this.#authorities ??= authoritiesOf(this.#options.place.origin.host)
    return this.#authorities
  }
}

function jsonOf(body: Buffer): unknown {
  try {
    return parseForeign(body)
  } catch {
    return undefined
  }
}
